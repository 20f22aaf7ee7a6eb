//! Who is on duty by the rotas of the configuration: now, in the next days, and in the last ones.

use chrono::{NaiveDateTime, Timelike as _};
use pdm_reasoner::chat::{DUTY_DAYS, DutyRoster, PAST_DUTY_DAYS};
use pdm_routes::{Rota, RouteTable};
use pdm_shared::time::Timestamp;

/// A change of a rota: its name, its clock's time, the people on duty from then on.
type Change = (String, NaiveDateTime, Vec<String>);

/// Everything that the chat knows of duty.
pub(super) fn roster(table: &RouteTable, now: Timestamp) -> DutyRoster {
    let rotas = table.rotas.iter();
    DutyRoster {
        rotas: rotas.clone().map(|rota| (rota.name.clone(), people(table, rota, now))).collect(),
        changes: rotas.clone().flat_map(|rota| changes_of(table, rota, now)).collect(),
        past: rotas.clone().flat_map(|rota| past_of(table, rota, now)).collect(),
        hours: rotas.flat_map(|rota| hours_of(table, rota, now)).collect(),
        everybody: table.names.iter().cloned().collect(),
    }
}

fn people(table: &RouteTable, rota: &Rota, at: Timestamp) -> Vec<String> {
    table.people(std::slice::from_ref(&rota.name), at).into_iter().collect()
}

/// Returns who is on duty in each of the next 24 hours, by the rota's clock.
fn hours_of(table: &RouteTable, rota: &Rota, now: Timestamp) -> Vec<(u32, String, Vec<String>)> {
    let zone = rota.zone.unwrap_or(table.zone);
    let past_s = f64::from(zone.local(now).minute()) * 60.0;
    let of_hour = |ahead: u32| {
        let at = now.plus_seconds(f64::from(ahead) * 3600.0 - past_s);
        (zone.local(at).hour(), rota.name.clone(), people(table, rota, at))
    };
    (1..=24).map(of_hour).collect()
}

/// Returns who is on duty after the changes of the next days, by the rota's clock.
fn changes_of(table: &RouteTable, rota: &Rota, now: Timestamp) -> Vec<Change> {
    let zone = rota.zone.unwrap_or(table.zone);
    let told = |at| (rota.name.clone(), zone.local(at), people(table, rota, at));
    rota.changes(table.zone, now, DUTY_DAYS).map(told).collect()
}

/// Returns who was on duty at the begin of the last days and after each change since, by the rota's
/// clock.
fn past_of(table: &RouteTable, rota: &Rota, now: Timestamp) -> Vec<Change> {
    let zone = rota.zone.unwrap_or(table.zone);
    let told = |at| (rota.name.clone(), zone.local(at), people(table, rota, at));
    let from = now.plus_seconds(-86_400.0 * f64::from(PAST_DUTY_DAYS));
    let changes = rota.changes(table.zone, from, PAST_DUTY_DAYS);
    std::iter::once(from).chain(changes).map(told).collect()
}
