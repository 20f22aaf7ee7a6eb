//! The figures of a month: the work that waits and that was done, how long it took and how often
//! the judgements were right; and alarm statistics as ISA-18.2 and EEMUA 191 ask for: how many, how
//! often at once, of which bearings, and what stands for long.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::delivery::Notification;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::is_gateway_level;

use super::{Reader, episodes, show};
use crate::Shared;
use crate::access::Viewer;
use crate::plant::{EpisodeDetail, EpisodeFilter, WorkFigures};
use crate::problem::Problem;

/// Days that are looked at, the time over which ISA-18.2 (16.5) wants its averages.
const DAYS: f64 = 30.0;
const DAY_S: f64 = 86_400.0;
/// Notifications that are read at once, and at most.
const PAGE: u32 = 1000;
const MOST: usize = 20_000;
/// Episodes that stand and are looked through.
const MOST_OPEN: u32 = 5000;
/// Bearings that a list names.
const LISTED: usize = 10;
/// The width of a count, ms: EEMUA 191 counts by ten minutes.
const TEN_MINUTES_MS: i64 = 600_000;
/// Alarms in ten minutes at which a flood begins, and below which it ends (ISA-18.2, 16.5.3).
const FLOOD_FROM: usize = 10;
const FLOOD_UNTIL: usize = 5;
/// An alarm that stands for longer is stale (ISA-18.2, 16.5.6).
const STALE_S: f64 = DAY_S;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("statistics.html", &reader, gather(&shared, &reader).await)
}

/// An alarm that staff was told of.
struct ToldAlarm {
    at: Timestamp,
    key: BearingKey,
    level: RiskLevel,
}

async fn gather(shared: &Shared, reader: &Reader) -> Result<Value, Problem> {
    let now = shared.site.clock.now();
    let work = shared.site.plant.work_figures(now.plus_seconds(-DAYS * DAY_S)).await?;
    let (alarms, is_cut) = alarms(shared, now).await?;
    let open = shared.site.plant.episodes(EpisodeFilter::Open, None, MOST_OPEN).await?;
    let mut stale: Vec<&EpisodeDetail> = open.iter().filter(|one| is_stale(one, now)).collect();
    stale.sort_by_key(|one| one.document.opened_at.unix_ms());
    let times: Vec<i64> = alarms.iter().map(|one| one.at.unix_ms()).collect();
    let (peak, flood) = floods(&times);
    let levels = [RiskLevel::Critical, RiskLevel::Warning, RiskLevel::Watch];
    let levels = levels.into_iter().map(|level| {
        let count = alarms.iter().filter(|one| one.level == level).count();
        context! {
            level => level.as_str(),
            label => level.label().in_language(reader.language),
            count,
            share => share(count, alarms.len()),
        }
    });
    Ok(context! {
        work => work_shown(&work, reader),
        total => alarms.len(),
        per_day => (alarms.len() as f64 / DAYS * 10.0).round() / 10.0,
        peak,
        flood_h => (flood as f64 / 6.0 * 10.0).round() / 10.0,
        is_cut,
        levels => levels.collect::<Vec<_>>(),
        actors => actors(&alarms, false),
        gateways => actors(&alarms, true),
        stale_count => stale.len(),
        stale => stale.iter().take(LISTED).map(|one| episodes::episode_card(one, reader)).collect::<Vec<_>>(),
    })
}

/// The figures of the work. How often the judgements were right is told with the number of those
/// that were inspected, as a share of two says little.
fn work_shown(work: &WorkFigures, reader: &Reader) -> Value {
    let right = work.right as usize;
    let inspected = right + work.wrong as usize + work.other_cause as usize;
    context! {
        took => work.median_hours.map(|hours| show::life(hours, reader.language)),
        inspected,
        right_share => share(right, inspected),
        ..show::value(work)
    }
}

/// The alarms of the last days, newest first, and whether there are more than were read.
async fn alarms(shared: &Shared, now: Timestamp) -> Result<(Vec<ToldAlarm>, bool), Problem> {
    let since = now.plus_seconds(-DAYS * DAY_S);
    let (mut told, mut before, mut read) = (Vec::new(), None, 0);
    loop {
        let list = shared.site.plant.notifications(None, before, PAGE).await?;
        read += list.len();
        let is_last = list.len() < PAGE as usize;
        let oldest = list.last().map(|last| last.created_at);
        told.extend(list.into_iter().filter(|one| one.created_at >= since).filter_map(alarm));
        if is_last || oldest.is_none_or(|oldest| oldest < since) {
            return Ok((told, false));
        }
        if read >= MOST {
            return Ok((told, true));
        }
        before = oldest;
    }
}

/// A notification that begins an alarm or makes it worse.
fn alarm(one: Notification) -> Option<ToldAlarm> {
    let is_alarm = one.raises_alarm();
    let key = BearingKey { site: one.site, equipment: one.equipment_id, bearing: one.bearing_id };
    is_alarm.then_some(ToldAlarm { at: one.created_at, key, level: one.risk_level })
}

fn is_stale(one: &EpisodeDetail, now: Timestamp) -> bool {
    one.document.told.is_some() && now.seconds_since(one.document.opened_at) > STALE_S
}

/// The most alarms in ten minutes, and the number of times of ten minutes in a flood.
fn floods(times_ms: &[i64]) -> (usize, usize) {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for at in times_ms {
        *counts.entry(at.div_euclid(TEN_MINUTES_MS)).or_default() += 1;
    }
    let (mut flooded, mut last) = (0, None);
    for (at, count) in &counts {
        let goes_on = last == Some(at - 1) && *count >= FLOOD_UNTIL;
        if *count >= FLOOD_FROM || goes_on {
            flooded += 1;
            last = Some(*at);
        }
    }
    (counts.values().copied().max().unwrap_or(0), flooded)
}

/// The bearings, or the gateways, with the most alarms, with their share of all.
fn actors(alarms: &[ToldAlarm], are_gateways: bool) -> Vec<Value> {
    let named = counted(alarms, are_gateways).into_iter().take(LISTED);
    let shown = named.map(|((name, address), count)| {
        context! { name, address, count, share => share(count, alarms.len()) }
    });
    shown.collect()
}

/// Name and page of what has alarms, with their count; the most first. The alarms of one gateway
/// are counted together, whether it is silent, refused or in trouble: it is no bearing.
fn counted(alarms: &[ToldAlarm], are_gateways: bool) -> Vec<((String, String), usize)> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for ToldAlarm { key, .. } in alarms {
        let is_gateway = is_gateway_level(key.equipment.as_str());
        if is_gateway != are_gateways {
            continue;
        }
        let named = if is_gateway {
            (format!("{}/{}", key.site, key.bearing), "/gateways".to_owned())
        } else {
            (key.to_string(), show::address(key))
        };
        *counts.entry(named).or_default() += 1;
    }
    let mut counts: Vec<((String, String), usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

/// A share in percent, rounded.
fn share(part: usize, whole: usize) -> usize {
    if whole == 0 { 0 } else { (part * 200 + whole) / (2 * whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A refused, silent or unmeasured gateway is no bearing, and its alarms are one gateway's.
    #[test]
    fn alarms_of_gateways_are_counted_beside_those_of_bearings() {
        let told = |name: &str| ToldAlarm {
            at: Timestamp::parse("2026-11-21T05:00:00Z").expect("a time"),
            key: {
                let parts: Vec<&str> = name.split('/').collect();
                BearingKey::parse(parts[0], parts[1], parts[2]).expect("a name")
            },
            level: RiskLevel::Warning,
        };
        let names = [
            "ulsan-1/refused-events/gw-02",
            "ulsan-1/gateway/gw-02",
            "ulsan-1/P-101/DE",
            "ulsan-1/gateway-trouble/gw-01",
            "ulsan-1/not-measured/gw-02",
        ];
        let alarms: Vec<ToldAlarm> = names.into_iter().map(told).collect();
        let named = |are_gateways| -> Vec<(String, usize)> {
            let all = counted(&alarms, are_gateways).into_iter();
            all.map(|((name, _), count)| (name, count)).collect()
        };
        assert_eq!(named(false), [("ulsan-1/P-101/DE".to_owned(), 1)]);
        assert_eq!(named(true), [("ulsan-1/gw-02".to_owned(), 3), ("ulsan-1/gw-01".to_owned(), 1)]);
        let alarms = vec![told("ulsan-1/refused-events/gw-02")];
        assert_eq!(counted(&alarms, false), Vec::new(), "no bearing has an alarm");
    }

    /// Twelve alarms within ten minutes, six in the next ten, four in those after: a flood of
    /// twenty minutes.
    #[test]
    fn a_flood_begins_at_ten_alarms_and_ends_below_five() {
        let at = |slot: i64, count: i64| (0..count).map(move |one| slot * TEN_MINUTES_MS + one);
        let times: Vec<i64> = at(7, 12).chain(at(8, 6)).chain(at(9, 4)).chain(at(40, 6)).collect();
        assert_eq!(floods(&times), (12, 2));
        assert_eq!(floods(&[]), (0, 0));
        assert_eq!((share(1, 3), share(2, 3), share(0, 0)), (33, 67, 0));
    }
}
