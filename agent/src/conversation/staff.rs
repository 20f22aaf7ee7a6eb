//! People and routes as the conversation tells them.

use std::collections::BTreeSet;

use pdm_reasoner::chat::{AlarmRoute, AlarmStep};
use pdm_routes::{Route, RouteTable, Subject};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_store::{Store, StoreError};

/// Returns the names of people and channels: those of the configuration, and those who have
/// acknowledged standing alarms.
pub(super) async fn people(store: &Store, table: &RouteTable) -> Result<Vec<String>, StoreError> {
    let mut names: BTreeSet<String> = table.names.clone();
    let rows = store.pages().fleet().await?;
    let alarms = rows.into_iter().filter_map(|row| row.alarm);
    names.extend(alarms.filter_map(|alarm| alarm.acknowledged_by));
    names.retain(|name| !name.trim().is_empty());
    Ok(names.into_iter().collect())
}

/// The route that takes the alarms of a bearing of this level now, or all routes.
pub(super) fn routes(
    table: &RouteTable,
    of: Option<(&BearingKey, RiskLevel)>,
    now: Timestamp,
) -> Vec<AlarmRoute> {
    let told = |route: &Route| AlarmRoute {
        name: route.name.clone(),
        sites: route.sites.clone(),
        equipment: route.equipment.clone(),
        from: route.from,
        to: route.to,
        is_of_hours: !route.hours.is_empty(),
        steps: route
            .step
            .iter()
            .map(|step| AlarmStep {
                after_minutes: step.after_minutes,
                to: step.to.clone(),
                people: table.people(&step.to, now).into_iter().collect(),
            })
            .collect(),
    };
    match of {
        Some((key, level)) => {
            // of a bearing that is Normal the route of its next alarm
            let level = level.max(RiskLevel::Watch);
            table.route(&Subject { key, level }, now).map(told).into_iter().collect()
        }
        None => table.routes.iter().map(told).collect(),
    }
}
