//! The start without a store: an agent whose store is away, or whose secrets are not there yet,
//! waits for them, serves health and tells staff, instead of ending where nobody looks.
//!
//! Faults that waiting cannot mend end the start: a configuration that is wrong, a database in
//! another encoding, a pooler, a store of a newer version.

use std::sync::Arc;
use std::time::Duration;

use pdm_service::clock::SharedClock;
use pdm_shared::risk::RiskLevel;
use pdm_store::{Backlog, MissingRows, Store, StoreError, StoreTrouble};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::{StartError, channels, log, open_store};
use crate::http::health;
use crate::mqtt::{Thrown, publisher};
use crate::notify::lanes::Channel;
use crate::notify::outage::{Outage, OutageWatch};
use crate::notify::policy::Policy;
use crate::notify::topic::NotificationTopic;
use crate::progress::Reporter;
use crate::settings::AgentSettings;
use crate::vitals::{Ailment, Blindness, Trouble, Vitals};

/// How long the first attempt may take before health is served. Chosen: a store that is well opens
/// within a second, the migration of a large one takes minutes.
const AT_ONCE: Duration = Duration::from_secs(3);
/// Between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// An open store, and the outage that staff has been told of meanwhile.
pub(super) struct Opened {
    pub(super) store: Store,
    pub(super) backlog: Backlog,
    /// The rows that the agent wrote last and that the store does not have.
    pub(super) missing: Option<MissingRows>,
    pub(super) outage: Option<Outage>,
}

/// Why the store is not open.
enum Hindrance {
    Store(StoreError),
    Secret(String),
}

impl Hindrance {
    fn blindness(&self) -> Blindness {
        match self {
            Self::Store(error) => Blindness::Store(Trouble::new(error)),
            Self::Secret(told) => Blindness::Secret(told.clone()),
        }
    }
}

/// Opens the store, waiting for it if need be. `outage` is what an earlier attempt has told.
///
/// # Errors
/// [`StartError`] where waiting cannot help.
pub(super) async fn opened(
    settings: &AgentSettings,
    clock: &SharedClock,
    vitals: &Vitals,
    outage: Option<Outage>,
) -> Result<Opened, StartError> {
    let began = Instant::now();
    let mut first = Box::pin(attempt(settings, clock));
    let mut goes_on = false;
    let hindrance = match timeout(AT_ONCE, &mut first).await {
        Ok(Ok((store, backlog, missing))) => {
            return Ok(Opened { store, backlog, missing, outage });
        }
        Ok(Err(hindrance)) => hindrance,
        // health is served meanwhile, and this attempt goes on
        Err(_elapsed) => {
            goes_on = true;
            Hindrance::Store(StoreError::no_answer())
        }
    };
    let ails = |hindrance: &Hindrance| {
        let since_at = clock.now().plus_seconds(-began.elapsed().as_secs_f64());
        vitals.ails(Ailment { since: began, since_at, blindness: hindrance.blindness() });
    };
    if let Hindrance::Store(error) = hindrance {
        if !StoreTrouble::from(&error).may_end() {
            return Err(error.into());
        }
        ails(&Hindrance::Store(error));
    } else {
        ails(&hindrance);
    }
    log::waits_for_start(vitals.ailment().as_ref());
    let stop = CancellationToken::new();
    let told = wait(settings, clock, vitals, outage, stop.clone());
    let opening = async {
        let opened = loop {
            let attempted = if std::mem::take(&mut goes_on) {
                first.as_mut().await
            } else {
                tokio::time::sleep(PAUSE).await;
                attempt(settings, clock).await
            };
            match attempted {
                Ok(opened) => break Ok(opened),
                Err(Hindrance::Store(error)) if !StoreTrouble::from(&error).may_end() => {
                    break Err(StartError::from(error));
                }
                Err(hindrance) => ails(&hindrance),
            }
        };
        stop.cancel();
        opened
    };
    let (opened, told) = tokio::join!(opening, told);
    let (store, backlog, missing) = opened?;
    log::sighted(began.elapsed());
    Ok(Opened { store, backlog, missing, outage: told? })
}

/// One attempt: the secrets are there, the store opens, has its schema, and takes a write.
async fn attempt(
    settings: &AgentSettings,
    clock: &SharedClock,
) -> Result<(Store, Backlog, Option<MissingRows>), Hindrance> {
    if let Some(missing) = settings.missing_secret() {
        return Err(Hindrance::Secret(missing));
    }
    let opened = async {
        let store = open_store(&settings.store).await?;
        store.take_over().await?;
        store.lead(clock.as_ref()).await?;
        let backlog = store.backlog().await?;
        let missing = store.missing().await?;
        Ok((store, backlog, missing))
    };
    opened.await.map_err(Hindrance::Store)
}

/// Serves health and tells staff until `stop`.
async fn wait(
    settings: &AgentSettings,
    clock: &SharedClock,
    vitals: &Vitals,
    outage: Option<Outage>,
    stop: CancellationToken,
) -> Result<Option<Outage>, StartError> {
    let served = health::serve_alone(&settings.http, vitals.clone(), stop.clone()).await;
    let mut ways = channels::present(&settings.notify, &settings.reports, clock);
    let mut publishing = None;
    // a broker whose secret is not there yet cannot be told; the other ways can
    // nobody else connects by this client id before the agent has started
    let (thrown, _thrown_out) = Thrown::channel(Reporter::new());
    if let Ok((publisher, connection, _connected)) = publisher::publisher(&settings.broker, thrown)
    {
        let prefix = settings.broker.prefix.clone();
        ways.push(Arc::new(NotificationTopic { publisher, prefix }));
        publishing = Some(connection.run(stop.clone()));
    }
    let told = async {
        if let Some(watch) = watch(settings, clock, vitals, ways) {
            return watch.run(outage, stop.clone()).await;
        }
        stop.cancelled().await;
        outage
    };
    let published = async {
        if let Some(publishing) = publishing {
            publishing.await;
        }
    };
    let served = async {
        match served {
            Ok(serving) => {
                serving.await;
                Ok(())
            }
            Err(error) => Err(error),
        }
    };
    let ((), told, served) = tokio::join!(published, told, served);
    served?;
    Ok(told)
}

/// The watch that tells staff of blindness, unless `[silence] store_after_s = 0` forbids it.
pub(super) fn watch(
    settings: &AgentSettings,
    clock: &SharedClock,
    vitals: &Vitals,
    ways: Vec<Arc<dyn Channel>>,
) -> Option<OutageWatch> {
    let after = Duration::from_secs_f64(settings.silence.store_after_s);
    if after.is_zero() {
        return None;
    }
    let policy = Policy::new(settings.notify.clone(), settings.broker.prefix.clone());
    let hears = |way: &Arc<dyn Channel>| policy.hears(way.lane(), RiskLevel::Warning);
    Some(OutageWatch {
        vitals: vitals.clone(),
        clock: Arc::clone(clock),
        channels: ways.into_iter().filter(hears).collect(),
        after,
    })
}
