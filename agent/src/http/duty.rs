//! Tells who is on duty by the configured rotas, for the page of duty.

use pdm_routes::{Rota, RouteTable};
use pdm_shared::time::Timestamp;
use pdm_web::plant::{DutyGap, DutyOverride, DutyRow};

/// The number of days for which gaps and changes are looked for.
const DAYS: u32 = 14;
/// Days beyond them in which the end of the last gap is looked for.
const BEYOND: u32 = 7;

/// The rotas of a table at a time.
pub(super) fn rows(table: &RouteTable, now: Timestamp) -> Vec<DutyRow> {
    table.rotas.iter().map(|rota| row(table, rota, now)).collect()
}

fn row(table: &RouteTable, rota: &Rota, now: Timestamp) -> DutyRow {
    let zone = rota.zone.unwrap_or(table.zone);
    let on = |at: Timestamp| rota.on_duty(table.zone, at);
    let current = on(now);
    let change = rota.changes(table.zone, now, DAYS).next();
    // gaps begin at whole minutes
    let minute = now.plus_seconds(-(now.unix_ms().rem_euclid(60_000) as f64) / 1000.0);
    let names = |who: &[&str]| who.iter().map(|name| (*name).to_owned()).collect();
    // a gap that goes on beyond the listed days ends where it ends, not where the list does
    let last = minute.plus_seconds(f64::from(DAYS) * 86_400.0);
    let gaps = rota.gaps(table.zone, minute, DAYS + BEYOND);
    let gaps = gaps.into_iter().filter(|gap| gap.from < last);
    let stands_in = rota.overrides.iter().filter_map(|one| {
        let (from, to) = (zone.instant(one.from)?, zone.instant(one.to)?);
        (to > now).then(|| DutyOverride { from, to, who: one.who.clone() })
    });
    DutyRow {
        rota: rota.name.clone(),
        zone: zone.name().to_owned(),
        now: names(&current),
        until: change,
        next: change.map(|at| names(&on(at))).unwrap_or_default(),
        gaps: gaps.map(|gap| DutyGap { from: gap.from, to: gap.to }).collect(),
        overrides: stands_in.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rota(text: &str) -> RouteTable {
        let rota: Rota = toml::from_str(text).expect("a rota");
        let zone = serde_json::from_value("Asia/Seoul".into()).expect("a zone");
        RouteTable { zone, rotas: vec![rota], ..RouteTable::default() }
    }

    /// Kim by day and Lee by night, nobody on Sunday night, Park for Kim on Friday.
    #[test]
    fn who_is_on_duty_now_and_next_and_when_nobody_is() {
        let table = rota(
            "name = \"maintenance\"\n\
             [[shift]]\nfrom = \"07:00\"\nto = \"19:00\"\nwho = [\"kim\"]\n\
             [[shift]]\ndays = [\"mon\", \"tue\", \"wed\", \"thu\", \"fri\", \"sat\"]\n\
             from = \"19:00\"\nto = \"07:00\"\nwho = [\"lee\"]\n\
             [[override]]\nfrom = \"2026-11-27T07:00\"\nto = \"2026-11-27T19:00\"\nwho = \
             [\"park\"]\n",
        );
        let at = |text: &str| Timestamp::parse(text).expect("a time");
        // Thursday 18:30:20 in Seoul
        let found = rows(&table, at("2026-11-26T09:30:20Z")).remove(0);
        assert_eq!(
            (found.now.as_slice(), found.next.as_slice()),
            (&["kim".to_owned()][..], &["lee".to_owned()][..])
        );
        assert_eq!(found.until, Some(at("2026-11-26T10:00:00Z")));
        assert_eq!(found.zone, "Asia/Seoul");
        let nights = [
            ("2026-11-29T10:00:00Z", "2026-11-29T22:00:00Z"),
            ("2026-12-06T10:00:00Z", "2026-12-06T22:00:00Z"),
        ];
        let nights = nights.map(|(from, to)| DutyGap { from: at(from), to: at(to) });
        assert_eq!(found.gaps, nights);
        assert_eq!(found.overrides[0].who, ["park"]);
        let friday = rows(&table, at("2026-11-27T00:00:00Z")).remove(0);
        assert_eq!(friday.now, ["park"]);
        let gone = rows(&table, at("2026-11-28T00:00:00Z")).remove(0);
        assert!(gone.overrides.is_empty(), "what is over is not listed");
    }
}
