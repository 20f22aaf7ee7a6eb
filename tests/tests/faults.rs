//! The fault suite in its short form. R-EDGE-10, R-AGENT-1, R-AGENT-10.
//!
//! The seed is fixed, so the schedule is; `tests/run faults` draws another one each time, and
//! `tests/run faults --long` is the soak.

use pdm_tests::faults::plan::StoreKind;
use pdm_tests::faults::{Options, Unwatched, run};

#[test]
fn nothing_is_lost_or_done_twice_whatever_dies() {
    let name = "nothing_is_lost_or_done_twice_whatever_dies";
    let options = Options::short(20_261_121, StoreKind::Sqlite);
    let Some(report) = run(name, &options, &mut Unwatched).expect("the suite works") else {
        return;
    };
    println!("{report}");
    assert!(report.verdict().is_well(), "{report}");
}
