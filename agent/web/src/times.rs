//! Times as people of the plant read them: the one place where pages write a time.
//!
//! Every page is made on the clock of the plant (`[notify] zone`), whatever the zone of a browser
//! and whether it runs scripts. The zone's name stands once on a page, so a time itself carries
//! none; a rota of another zone names it at each of its times.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use pdm_routes::Zone;
use pdm_shared::time::Timestamp;

use crate::Shared;

tokio::task_local! {
    /// The zone of the plant whose page is being made.
    static PLANT_ZONE: Zone;
}

/// Answers a request on the clock of the plant.
pub(crate) async fn on_plant_clock(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    PLANT_ZONE.scope(shared.site.zone, next.run(request)).await
}

/// The zone of the plant; UTC outside of a request.
pub(crate) fn plant_zone() -> Zone {
    PLANT_ZONE.try_with(|zone| *zone).unwrap_or_default()
}

/// The zone as people name it, with its name in the IANA database: `KST (Asia/Seoul)`.
pub(crate) fn zone_in_words(zone: Zone, now: Timestamp) -> String {
    let (short, name) = (zone.abbreviation(now), zone.name());
    if short == name { short } else { format!("{short} ({name})") }
}

/// A time to the minute, without its zone: `2026-11-27 17:30`.
pub(crate) fn minute_of(at: Timestamp, zone: Zone) -> String {
    zone.local(at).format("%Y-%m-%d %H:%M").to_string()
}

/// A time to the second, without its zone: `2026-11-27 17:30:05`.
pub(crate) fn second_of(at: Timestamp, zone: Zone) -> String {
    zone.local(at).format("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_that_of_the_plants_clock() {
        let at: Timestamp = Timestamp::parse("2026-11-27T22:00:05Z").expect("a time");
        let zone: Zone = serde_json::from_value("Asia/Seoul".into()).expect("a zone");
        assert_eq!(minute_of(at, zone), "2026-11-28 07:00");
        assert_eq!(second_of(at, zone), "2026-11-28 07:00:05");
        assert_eq!(zone_in_words(zone, at), "KST (Asia/Seoul)");
        assert_eq!(zone_in_words(Zone::default(), at), "UTC");
    }
}
