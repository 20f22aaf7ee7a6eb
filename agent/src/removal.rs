//! Taking out, renaming, replacing and releasing parts of the plant and gateways: one way for the
//! command line, the API and the pages, with the same refusals. The store does each in one
//! transaction, which a dry run does not end.

use pdm_shared::id::GatewayKey;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;
use pdm_store::{History, RefusedEvents, Removal, RemovalWording, Store, StoreError};
use pdm_web::plant::{ChangeRequest, Changed, PlantChange, PlantPart, RefusedRow, TakenOut};

use crate::admission::admission;
use crate::notify::policy::Policy;
use crate::settings::{AgentSettings, BearingOwners};

/// The topics and owners that a change needs besides the store.
#[derive(Debug, Clone)]
pub(crate) struct Ground {
    /// The first levels of the topics that are cleared.
    pub(crate) prefix: Prefix,
    /// The gateways that the configuration names.
    pub(crate) owners: BearingOwners,
    /// Who is told of alarms that end.
    pub(crate) policy: Policy,
}

impl Ground {
    /// Returns the ground of a configuration.
    pub(crate) fn of(settings: &AgentSettings) -> Self {
        let prefix = settings.broker.prefix.clone();
        let policy = Policy::new(settings.notify.clone(), prefix.clone());
        Self { prefix, owners: settings.gateways.clone(), policy }
    }

    /// The wording of what staff is told of alarms that end with a change.
    fn wording(&self, request: &ChangeRequest, now: Timestamp) -> RemovalWording {
        let (policy, by, reason) =
            (self.policy.clone(), request.by.clone(), request.reason.clone());
        RemovalWording::new(move |alarm| policy.removed(alarm, (&by, &reason), now))
    }
}

/// Makes a change, or says what it would be.
pub(crate) async fn change(
    store: &Store,
    ground: &Ground,
    request: &ChangeRequest,
    now: Timestamp,
) -> Result<Changed, StoreError> {
    let how = Removal {
        prefix: ground.prefix.clone(),
        who: request.who.clone(),
        by: request.by.clone(),
        via: request.via.to_owned(),
        peer: request.peer,
        reason: request.reason.clone(),
        now,
        is_dry: request.is_dry,
        wording: ground.wording(request, now),
    };
    match &request.change {
        PlantChange::Forget(part) => Ok(of(part, store.removal().take_out(part, &how).await?)),
        PlantChange::Rename { from, to, with_history, may_join } => {
            rename(store, (from, to), (*with_history, *may_join), &how).await
        }
        PlantChange::ForgetGateway(gateway) => {
            let out = store.removal().forget_gateway(gateway, &how).await?;
            Ok(ground.done(gateway, out))
        }
        PlantChange::ReplaceGateway { old, new } => {
            if old.site != new.site || old == new {
                let told = format!("{old} and {new}: allowed are two gateways of one site");
                return Ok(Changed::Unfit(told));
            }
            let out = store.removal().replace_gateway(old, new, &how).await?;
            Ok(ground.done(old, out))
        }
        PlantChange::ReleaseGateway(gateway) => {
            let out = store.removal().release_gateway_as(gateway, &how).await?;
            Ok(ground.done(gateway, TakenOut { released: Vec::new(), ..out }))
        }
        PlantChange::ReleaseBearing(bearing) => {
            let is_configured = ground.owners.of(bearing).is_some();
            let out = store.removal().release_bearing_as(bearing, &how).await?;
            if out.released.is_empty() && !is_configured {
                return Ok(Changed::Unknown(bearing.to_string()));
            }
            Ok(Changed::Done(TakenOut { is_configured, ..out }))
        }
    }
}

impl Ground {
    fn done(&self, gateway: &GatewayKey, out: TakenOut) -> Changed {
        if out.gateways.is_empty() {
            return Changed::Unknown(gateway.to_string());
        }
        Changed::Done(TakenOut { is_configured: self.owners.names(gateway), ..out })
    }

    /// Refused events with what admits them.
    pub(crate) fn refused(&self, one: RefusedEvents) -> RefusedRow {
        let admitted_by = admission(&one, &self.owners);
        let RefusedEvents { gateway, bearing, cause, reason, count, first_at, last_at, .. } = one;
        let cause = cause.as_str().to_owned();
        RefusedRow { gateway, bearing, cause, reason, count, first_at, last_at, admitted_by }
    }
}

fn of(part: &PlantPart, out: TakenOut) -> Changed {
    if out.is_something() { Changed::Done(out) } else { Changed::Unknown(part.to_string()) }
}

async fn rename(
    store: &Store,
    (from, to): (&PlantPart, &PlantPart),
    (with_history, may_join): (bool, bool),
    how: &Removal,
) -> Result<Changed, StoreError> {
    if !from.is_level_with(to) || from == to {
        let told = format!(
            "{from} and {to}: allowed are two different names of one level, such as SITE/EQUIPMENT \
             twice"
        );
        return Ok(Changed::Unfit(told));
    }
    let history = match (with_history, may_join) {
        (false, _) => History::Stays,
        (true, false) => History::Moves,
        (true, true) => History::Joins,
    };
    let out = store.removal().rename(from, to, history, how).await?;
    if history == History::Moves && !out.joined.is_empty() {
        return Ok(Changed::Joins(out.joined));
    }
    Ok(of(from, out))
}
