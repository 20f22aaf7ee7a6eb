//! Series of stations: written twice they stand once; a bearing is a station whose elements are the
//! features of its events.

use pdm_decision::table::{cases, value, values};
use pdm_decision::{Sample, Window};

use super::{at, event, key, put};
use crate::Store;

fn window(station_id: i64, element: &str, from_s: i64, to_s: i64) -> Window {
    Window { station_id, element: element.to_owned(), from_s, to_s }
}

/// R-TOOL-9
pub(super) async fn a_value_of_a_station_stands_once(store: &Store) {
    let file = "station_id,element,at,value\n101,SO2,2026-11-01 00:00:00,0.5\n\
                101,SO2,2026-11-01 01:00:00,\n102,SO2,2026-11-01 00:00:00,0.7\n";
    let read = values(file).expect("right");
    assert_eq!(store.series().put_series(&read).await.expect("written"), 3);
    assert_eq!(store.series().put_series(&read).await.expect("again"), 0);
    let from_s = read[0].sample.at_s;
    let all = window(101, "SO2", from_s, from_s + 3600);
    let series = store.series().series(&all).await.expect("read");
    assert_eq!(series, [read[0].sample, Sample { at_s: from_s + 3600, value: None }]);
    let late = value(101, "SO2", "2026-11-01 01:00:00", Some(0.25)).expect("right");
    assert_eq!(store.series().put_series(&[late]).await.expect("changed"), 1);
    assert_eq!(store.series().series(&all).await.expect("read")[1].value, Some(0.25));
    assert!(
        store
            .series()
            .series(&window(101, "NO2", 0, i64::MAX / 2000))
            .await
            .expect("read")
            .is_empty()
    );
    let known = [(101, "SO2".to_owned()), (102, "SO2".to_owned())];
    assert_eq!(store.series().stations(10).await.expect("read"), known);
    assert_eq!(store.series().stations(1).await.expect("read"), known[..1]);
}

/// R-TOOL-9
pub(super) async fn a_case_is_read_with_its_values_newest_first(store: &Store) {
    let read = values("station_id,element,at,value\n101,SO2,2026-01-01 00:00:00,0.5\n");
    store.series().put_series(&read.expect("right")).await.expect("written");
    let file = "id,station_id,element,from_at,to_at,what_ko,what_en,outcome_ko,outcome_en\n\
                old,101,SO2,2025-12-31 00:00:00,2026-01-02 00:00:00,가,a,나,b\n\
                new,101,SO2,2026-02-01 00:00:00,2026-02-02 00:00:00,다,c,라,d\n";
    let read = cases(file).expect("right");
    store.series().put_cases(&read).await.expect("written");
    store.series().put_cases(&read).await.expect("again");
    let found = store.series().series_cases(read[1].window.to_s, 10).await.expect("read");
    let names: Vec<&str> = found.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(names, ["new", "old"]);
    assert_eq!((found[1].samples.len(), found[1].what.ko.as_str()), (1, "가"));
    let earlier = store.series().series_cases(read[1].window.to_s - 1, 10).await.expect("read");
    assert_eq!(earlier.len(), 1);
}

/// R-TOOL-9
pub(super) async fn the_features_of_a_bearing_are_series_under_their_names(store: &Store) {
    put(store, &[event(1), event(2)]).await;
    assert!(store.series().name_station(7001, &key()).await.expect("named"));
    assert!(store.series().name_station(7001, &key()).await.expect("again"));
    let other = pdm_shared::id::BearingKey { bearing: "NDE-9".parse().expect("name"), ..key() };
    assert!(!store.series().name_station(7001, &other).await.expect("taken"));
    let span =
        |element: &str| window(7001, element, at(0.0).unix_ms() / 1000, at(200.0).unix_ms() / 1000);
    let rms = store.series().series(&span("rms_g")).await.expect("read");
    assert_eq!(rms.len(), 2);
    let expected = event(1).time_domain.rms_g;
    assert_eq!(rms[0].value, expected);
    let by_path = store.series().series(&span("time_domain.rms_g")).await.expect("read");
    assert_eq!(by_path, rms);
    assert!(store.series().series(&span("no_such_feature")).await.expect("read").is_empty());
    // a number that has values of its own is no bearing
    let own = value(9, "SO2", "2026-11-01 01:00:00", Some(0.25)).expect("right");
    store.series().put_series(&[own]).await.expect("written");
    assert!(!store.series().name_station(9, &other).await.expect("taken"));
}
