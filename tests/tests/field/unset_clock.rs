//! Clocks that were never set: a host without a clock of its own begins in 1970 until its time
//! service answers. Issue 33, script 25.

use pdm_harness::WallClock;
use pdm_service::clock::{Clock, SystemClock};

use crate::watched::Watched;

/// A clock that begins ten seconds after 1970.
fn unset(test: &str) -> Option<WallClock> {
    let clock = WallClock::new(test)?;
    clock.set(10 - SystemClock.now().unix_ms() / 1000);
    Some(clock)
}

/// The time that a host takes until its clock is set. Silences are told by then, as they were.
fn while_it_is_unset() {
    std::thread::sleep(std::time::Duration::from_secs(6));
}

#[test]
fn an_agent_whose_clock_is_set_from_1970_tells_no_silence_and_every_alarm() {
    let test = "an_agent_whose_clock_is_set_from_1970_tells_no_silence_and_every_alarm";
    let Some(clock) = unset(test) else { return };
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start_with_clock(&clock);
    plant.works();
    plant.says_status("gw-01", "online");
    plant.fault("P-101");
    plant.fault("P-101");
    while_it_is_unset();
    clock.set(0);
    plant.fault("P-102");
    plant.hears("[Warning] P-102 DE");
    while_it_is_unset();
    for false_alarm in ["[Silent]", "[Back]", "[No data]"] {
        assert_eq!(plant.count(false_alarm), 0, "{false_alarm}: {}", plant.log());
    }
}
