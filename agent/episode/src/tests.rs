//! The machine window by window, and its invariants over drawn courses.

use pdm_shared::episode::{
    Condition, EpisodeState, FreezeCause, LONGEST_SHELF_S, Suppression, Transition,
};
use pdm_shared::risk::RiskLevel::{self, Critical, Normal, Warning, Watch};
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::*;

mod findings;
mod invariants;

/// Minutes between two windows.
const PERIOD_MIN: u32 = 5;

/// A bearing with its episode, and what staff was told of it.
struct Bench {
    rules: EpisodeRules,
    episode: Option<Episode>,
    window: u32,
    told: Vec<(f64, Tell)>,
    episodes: Vec<Uuid>,
}

fn at(minutes: f64) -> Timestamp {
    Timestamp::from_unix_ms(1_795_238_000_000).expect("in range").plus_seconds(60.0 * minutes)
}

impl Bench {
    fn new() -> Self {
        // an hour and eight: the courses of the tests stay short
        let rules =
            EpisodeRules { over_s: 3600.0, hold_most_s: 8.0 * 3600.0, ..EpisodeRules::default() };
        Self { rules, episode: None, window: 0, told: Vec::new(), episodes: Vec::new() }
    }

    fn minutes(&self) -> f64 {
        f64::from(self.window * PERIOD_MIN)
    }

    fn now(&self) -> Timestamp {
        at(self.minutes())
    }

    fn take(&mut self, step: Option<EpisodeStep>) -> Option<EpisodeStep> {
        let step = step?;
        if let Some(tell) = step.tell {
            self.told.push((self.minutes(), tell));
        }
        if self.episodes.last() != Some(&step.episode.id) {
            self.episodes.push(step.episode.id);
        }
        self.episode = Some(step.episode.clone());
        Some(step)
    }

    fn observe(&mut self, window: Observation) -> Option<EpisodeStep> {
        let id = Uuid::from_u128(1 + u128::from(self.window));
        let step = follow(self.episode.as_ref(), &window, &self.rules, id);
        self.window += 1;
        self.take(step)
    }

    fn observation(&self, level: RiskLevel) -> Observation {
        Observation {
            at: self.now(),
            now: self.now(),
            level,
            finding: Finding::default(),
            frozen: None,
            is_out_of_order: false,
            is_replayed: false,
            ended: None,
        }
    }

    fn level(&mut self, level: RiskLevel) -> Option<EpisodeStep> {
        let window = self.observation(level);
        self.observe(window)
    }

    /// A window at a level with what it knows of the damage.
    fn found(&mut self, level: RiskLevel, finding: Finding) -> Option<Tell> {
        let window = Observation { finding, ..self.observation(level) };
        self.observe(window).and_then(|step| step.tell)
    }

    fn frozen(&mut self, cause: FreezeCause) -> Option<EpisodeStep> {
        let level = self.episode.as_ref().map_or(Normal, |one| one.course.condition.level());
        let window = Observation { frozen: Some(cause), ..self.observation(level) };
        self.observe(window)
    }

    fn run(&mut self, courses: &[(u32, RiskLevel)]) {
        for (count, level) in courses {
            for _ in 0..*count {
                let _step = self.level(*level);
            }
        }
    }

    fn acknowledge(&mut self) {
        let now = self.now();
        let step = self.episode.as_ref().and_then(|one| one.acknowledge("kim", Some("cli"), now));
        let _step = self.take(step);
    }

    fn shelve(&mut self, hours: f64) {
        let until = self.now().plus_seconds(3600.0 * hours);
        let (by, reason) = ("kim".to_owned(), "spare on its way".to_owned());
        let open = self.episode.clone().filter(|one| one.closed_at.is_none());
        let id = Uuid::from_u128(1_000_000 + u128::from(self.window));
        let episode = open.unwrap_or_else(|| Episode::new(id, self.now()));
        let step = episode.suppress(Suppression::Shelved { until, by, reason }, self.now());
        let _step = self.take(Some(step));
    }

    /// The end of a shelf, as the watch over time finds it.
    fn end_shelf(&mut self) {
        let now = self.now();
        let due = self
            .episode
            .as_ref()
            .filter(|one| one.suppression != Suppression::None && !one.suppression.holds(now));
        let step = due.map(|one| one.unsuppress(now));
        let _step = self.take(step);
    }

    fn tells(&self) -> Vec<Tell> {
        self.told.iter().map(|(_, tell)| *tell).collect()
    }

    fn state(&self) -> EpisodeState {
        self.episode.as_ref().expect("an episode").state()
    }
}

/// R-AGENT-10: ISA-18.2's four states, and the end.
#[test]
fn an_episode_goes_through_the_states_of_an_alarm() {
    let mut bench = Bench::new();
    bench.run(&[(3, Watch)]);
    assert_eq!(bench.state(), EpisodeState::UnacknowledgedActive);
    bench.acknowledge();
    assert_eq!(bench.state(), EpisodeState::AcknowledgedActive);
    bench.run(&[(1, Normal)]);
    assert_eq!(bench.state(), EpisodeState::AcknowledgedNormal);
    bench.run(&[(13, Normal)]);
    assert_eq!(bench.state(), EpisodeState::Closed);
    assert_eq!(bench.tells(), [Tell::Raised(Watch), Tell::Cleared(Watch)]);
    let mut unseen = Bench::new();
    unseen.run(&[(3, Watch), (14, Normal)]);
    assert_eq!(unseen.state(), EpisodeState::UnacknowledgedNormal, "told, over, and unseen");
    unseen.acknowledge();
    assert_eq!(unseen.state(), EpisodeState::Closed);
}

#[test]
fn a_level_above_the_acknowledged_one_is_unacknowledged_again() {
    let mut bench = Bench::new();
    bench.run(&[(2, Watch)]);
    bench.acknowledge();
    bench.run(&[(1, Warning)]);
    assert_eq!(bench.state(), EpisodeState::UnacknowledgedActive);
    assert_eq!(bench.tells(), [Tell::Raised(Watch), Tell::Raised(Warning)]);
}

/// An acknowledgement that was a slip is taken back: the alarm stands as if nobody had seen it,
/// once, and not where the episode is closed.
#[test]
fn an_acknowledgement_is_taken_back_while_the_episode_is_open() {
    let mut bench = Bench::new();
    bench.run(&[(2, Critical)]);
    let episode = bench.episode.clone().expect("one");
    let at = episode.changed_at;
    assert!(episode.unacknowledge(at).is_none(), "nobody has acknowledged it");
    let seen = episode.acknowledge("kim", None, at).expect("acknowledged").episode;
    let step = seen.unacknowledge(at).expect("taken back");
    assert_eq!(step.episode.state(), EpisodeState::UnacknowledgedActive);
    assert_eq!((step.episode.sequence, step.tell), (seen.sequence + 1, None));
    assert!(step.episode.unacknowledge(at).is_none(), "once");
    let mut closed = seen;
    closed.closed_at = Some(at);
    assert!(closed.unacknowledge(at).is_none(), "it is over");
}

#[test]
fn a_return_within_the_hold_is_quiet_and_one_after_it_is_told() {
    let mut quiet = Bench::new();
    quiet.run(&[(3, Critical), (4, Watch), (3, Critical)]);
    assert_eq!(quiet.tells(), [Tell::Raised(Critical)]);
    let mut told = Bench::new();
    told.run(&[(3, Critical), (12, Watch), (3, Critical)]);
    assert_eq!(told.tells(), [Tell::Raised(Critical), Tell::Raised(Critical)]);
    assert_eq!(told.episodes.len(), 1);
}

/// The hold doubles with each return, so a bearing that comes and goes is told less and less.
#[test]
fn each_return_doubles_the_hold_up_to_its_cap() {
    let rules = Bench::new().rules;
    let holds: Vec<f64> = (0..6).map(|n| rules.hold_of(Watch, n) / 3600.0).collect();
    assert_eq!(holds, [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]);
    assert!(rules.hold_of(Critical, 9) <= rules.hold_s, "the end of a bearing is told");
    let mut bench = Bench::new();
    let hourly: Vec<_> = (0..24 * 7).flat_map(|_| [(2, Watch), (10, Normal)]).collect();
    bench.run(&hourly);
    assert_eq!(bench.tells(), [Tell::Raised(Watch)]);
}

#[test]
fn a_third_return_within_a_day_is_told_when_the_day_is_over() {
    let mut bench = Bench::new();
    let six_hourly: Vec<_> = (0..3).flat_map(|_| [(3, Watch), (69, Normal)]).collect();
    bench.run(&six_hourly);
    let raised =
        |bench: &Bench| bench.tells().iter().filter(|tell| matches!(tell, Tell::Raised(_))).count();
    assert_eq!(raised(&bench), 2);
    bench.run(&[(10, Watch)]);
    assert_eq!(raised(&bench), 2, "quiet: twice in this day already");
    bench.run(&[(100, Watch)]);
    assert_eq!(raised(&bench), 3, "it stands a day after the first");
    assert_eq!(bench.episodes.len(), 1);
}

#[test]
fn a_silent_sensor_freezes_and_its_time_counts_for_no_hold() {
    let mut bench = Bench::new();
    bench.run(&[(3, Critical), (1, Normal)]);
    for _ in 0..200 {
        let step = bench.frozen(FreezeCause::Sensor);
        assert!(step.is_none_or(|step| step.tell.is_none()));
    }
    assert_eq!(bench.state(), EpisodeState::UnacknowledgedNormal);
    bench.run(&[(5, Normal)]);
    assert_eq!(bench.tells(), [Tell::Raised(Critical)], "nothing is cleared by silence");
    bench.run(&[(14, Normal)]);
    assert_eq!(bench.tells().last(), Some(&Tell::Cleared(Critical)));
}

/// Issue 33, point 1: whatever suppresses a bearing, a level above what staff was told of it is
/// told.
#[test]
fn a_rise_ends_a_shelf_and_is_told() {
    let mut bench = Bench::new();
    bench.run(&[(2, Watch)]);
    bench.acknowledge();
    bench.shelve(24.0);
    bench.run(&[(3, Watch), (1, Normal), (3, Watch)]);
    assert_eq!(bench.tells(), [Tell::Raised(Watch)], "what was told is put off");
    bench.run(&[(3, Warning), (6, Critical)]);
    let told = [Tell::Raised(Watch), Tell::Raised(Warning), Tell::Raised(Critical)];
    assert_eq!(bench.tells(), told);
    assert_eq!(bench.state(), EpisodeState::UnacknowledgedActive, "the shelf is over");
    bench.end_shelf();
    bench.run(&[(50, Critical)]);
    assert_eq!(bench.told.len(), 3, "once");
}

#[test]
fn a_rise_is_told_while_the_cause_is_told_elsewhere() {
    let mut bench = Bench::new();
    bench.run(&[(2, Watch)]);
    let reason = "gateway ulsan-1/gw-01 is silent".to_owned();
    let by_design = Suppression::ByDesign { reason };
    let step = bench.episode.as_ref().map(|one| one.suppress(by_design, bench.now()));
    let _step = bench.take(step);
    bench.run(&[(10, Watch), (3, Critical)]);
    assert_eq!(bench.tells(), [Tell::Raised(Watch), Tell::Raised(Critical)]);
    assert_eq!(bench.state(), EpisodeState::UnacknowledgedActive);
}

/// The other bearing's alarm says the level of this one: that level is told, and no higher one.
#[test]
fn a_bearing_that_is_told_with_another_is_told_by_itself_above_the_level_that_names_it() {
    let mut bench = Bench::new();
    let episode = Episode::new(Uuid::from_u128(5), bench.now());
    let step = episode.beside("one cause with s/P/DE".to_owned(), Watch, bench.now());
    let _step = bench.take(Some(step));
    bench.run(&[(20, Watch)]);
    assert_eq!(bench.tells(), []);
    assert!(!bench.episode.as_ref().expect("one").owes_a_rise());
    bench.run(&[(1, Warning)]);
    assert_eq!(bench.tells(), [Tell::Raised(Warning)]);
    assert_eq!(bench.episode.as_ref().expect("one").suppression, Suppression::None);
}

/// Work shakes the bearings of its machine: what is below Critical waits for its end.
#[test]
fn work_on_the_machine_lets_a_critical_through_alone() {
    let work = |hours: f64, bench: &Bench| Suppression::OutOfService {
        until: bench.now().plus_seconds(3600.0 * hours),
        by: "kim".to_owned(),
        reason: "overhaul".to_owned(),
        work_order: Some("WO-1".to_owned()),
    };
    let begin = |hours| {
        let mut bench = Bench::new();
        let episode = Episode::new(Uuid::from_u128(5), bench.now());
        let step = episode.suppress(work(hours, &bench), bench.now());
        let _step = bench.take(Some(step));
        bench
    };
    let mut warned = begin(1.0);
    warned.run(&[(12, Warning)]);
    assert_eq!((warned.tells(), warned.state()), (vec![], EpisodeState::OutOfService));
    warned.end_shelf();
    assert_eq!(warned.tells(), [Tell::Raised(Warning)]);
    let mut critical = begin(24.0);
    critical.run(&[(5, Warning), (2, Critical)]);
    assert_eq!(critical.tells(), [Tell::Raised(Critical)]);
    assert_eq!(critical.state(), EpisodeState::UnacknowledgedActive);
    let mut passed = begin(1.0);
    passed.run(&[(2, Warning), (10, Watch)]);
    passed.end_shelf();
    assert_eq!(passed.tells(), [Tell::Passed(Warning)]);
}

#[test]
fn the_end_of_a_shelf_tells_what_resolved() {
    let mut resolved = Bench::new();
    resolved.run(&[(2, Warning)]);
    resolved.shelve(4.0);
    resolved.run(&[(48, Normal)]);
    resolved.end_shelf();
    assert_eq!(resolved.tells(), [Tell::Raised(Warning), Tell::Cleared(Warning)]);
}

/// Episodes of earlier versions, in which a suppression held a Critical for ever.
#[test]
fn what_an_earlier_version_withheld_is_owed() {
    let mut bench = Bench::new();
    bench.run(&[(2, Watch)]);
    let mut episode = bench.episode.clone().expect("one");
    episode.suppression = Suppression::ByDesign { reason: "gateway s/g is silent".to_owned() };
    episode.course.condition = Condition::Active { level: Critical, since: bench.now() };
    episode.course.withhold(Some(Critical));
    assert!(episode.owes_a_rise());
    assert_eq!(episode.unsuppress(bench.now()).tell, Some(Tell::Raised(Critical)));
    bench.episode = Some(episode);
    bench.run(&[(1, Critical)]);
    assert_eq!(bench.tells().last(), Some(&Tell::Raised(Critical)), "by a window too");
}

#[test]
fn an_episode_of_what_is_gone_is_closed_and_owes_nothing() {
    let mut bench = Bench::new();
    bench.run(&[(3, Critical)]);
    bench.shelve(8.0);
    let removed = bench.episode.as_ref().expect("one").removed(bench.now());
    assert_eq!((removed.state(), removed.owes_a_rise()), (EpisodeState::Closed, false));
    bench.episode = Some(removed);
    bench.run(&[(1, Critical)]);
    assert_eq!(bench.tells(), [Tell::Raised(Critical), Tell::Raised(Critical)], "a new one begins");
    assert_eq!(bench.episodes.len(), 2);
}

/// A shelf of a bearing of which nothing is known hides nothing that is new.
#[test]
fn a_shelf_without_an_episode_closes_if_nothing_stands() {
    let mut quiet = Bench::new();
    quiet.shelve(1.0);
    quiet.run(&[(13, Normal)]);
    quiet.end_shelf();
    assert_eq!((quiet.tells(), quiet.state()), (vec![], EpisodeState::Closed));
    let mut risen = Bench::new();
    risen.shelve(1.0);
    risen.run(&[(1, Watch)]);
    assert_eq!(risen.tells(), [Tell::Raised(Watch)]);
    assert_eq!(risen.episodes.len(), 1);
}

#[test]
fn a_repair_ends_the_episode_and_what_comes_is_another() {
    let mut bench = Bench::new();
    bench.run(&[(3, Critical)]);
    let window = Observation { ended: Some(EndCause::Repair), ..bench.observation(Normal) };
    let step = bench.observe(window).expect("a step");
    assert_eq!(step.tell, Some(Tell::Cleared(Critical)));
    assert_eq!(step.episode.state(), EpisodeState::Closed, "without an acknowledgement");
    bench.run(&[(1, Watch)]);
    assert_eq!(bench.episodes.len(), 2);
}

#[test]
fn a_window_out_of_order_raises_and_neither_clears_nor_tells_again() {
    let mut bench = Bench::new();
    bench.run(&[(3, Watch)]);
    let late = |bench: &Bench, level| Observation {
        at: at(-600.0),
        is_out_of_order: true,
        is_replayed: true,
        ..bench.observation(level)
    };
    let (normal, watch, critical) =
        (late(&bench, Normal), late(&bench, Watch), late(&bench, Critical));
    assert_eq!(bench.observe(normal), None);
    assert_eq!(bench.observe(watch), None);
    assert_eq!(bench.observe(critical).and_then(|step| step.tell), Some(Tell::Raised(Critical)));
}

/// A gateway's clock that was an hour ahead and is right again makes its windows late for that
/// hour.
#[test]
fn a_window_of_now_by_a_clock_that_was_set_raises_what_was_left() {
    for is_acknowledged in [true, false] {
        let mut bench = Bench::new();
        bench.run(&[(3, Critical)]);
        if is_acknowledged {
            bench.acknowledge();
        }
        // the hold of an hour is over, and staff is told so
        bench.run(&[(20, Normal)]);
        assert!(matches!(bench.told.last(), Some((_, Tell::Cleared(Critical)))));
        let of = |bench: &Bench, level, is_replayed| Observation {
            at: at(60.0),
            is_out_of_order: true,
            is_replayed,
            ..bench.observation(level)
        };
        let old = of(&bench, Critical, true);
        assert_eq!(bench.observe(old), None, "what a spool brings is old news");
        let now = of(&bench, Critical, false);
        let step = bench.observe(now).expect("it stands again");
        assert_eq!(step.tell, Some(Tell::Raised(Critical)));
        let again = of(&bench, Critical, false);
        assert_eq!(bench.observe(again), None, "once");
        let milder = of(&bench, Watch, false);
        assert_eq!(bench.observe(milder), None, "and nothing is lowered");
        assert_eq!(bench.episode.as_ref().expect("one").course.condition.level(), Critical);
    }
}

#[test]
fn an_episode_that_nobody_sees_closes_after_a_week() {
    let mut bench = Bench::new();
    bench.run(&[(1, Watch), (12 * 24 * 8, Normal)]);
    let episode = bench.episode.as_ref().expect("an episode");
    assert_eq!((bench.state(), episode.transition), (EpisodeState::Closed, Transition::Closed));
    assert_eq!(bench.told.len(), 2);
    assert!(LONGEST_SHELF_S <= bench.rules.close_after_s);
}
