//! Invariants of the machine over drawn courses of windows, acknowledgements and shelves.

use pdm_shared::episode::FreezeCause;
use proptest::prelude::*;

use super::*;
use crate::course::Course;

/// Something that happens to a bearing.
#[derive(Debug, Clone, Copy)]
enum Act {
    Windows(u8, RiskLevel),
    Frozen(u8),
    Acknowledge,
    Shelve(u8),
}

fn level() -> impl Strategy<Value = RiskLevel> {
    prop::sample::select(vec![Normal, Normal, Watch, Watch, Warning, Critical])
}

fn act(with_shelves: bool) -> impl Strategy<Value = Act> {
    let shelves = u32::from(with_shelves);
    prop_oneof![
        8 => (1_u8..40, level()).prop_map(|(count, level)| Act::Windows(count, level)),
        2 => (1_u8..40).prop_map(Act::Frozen),
        2 => Just(Act::Acknowledge),
        shelves => (1_u8..6).prop_map(Act::Shelve),
    ]
}

/// The knowledge of an onlooker: the highest level since the episode began, and the highest that
/// was told.
#[derive(Default)]
struct Onlooker {
    seen: Option<RiskLevel>,
    told: Option<RiskLevel>,
}

impl Onlooker {
    fn hears(&mut self, tell: Option<Tell>) {
        let told = tell.map(|tell| match tell {
            Tell::Raised(level)
            | Tell::Insisted(level)
            | Tell::Passed(level)
            | Tell::Developed(level)
            | Tell::Cleared(level) => level,
        });
        self.told = self.told.max(told);
    }
}

/// One window, held to what it may do.
fn window(bench: &mut Bench, onlooker: &mut Onlooker, level: RiskLevel) {
    let before = bench.episode.clone().filter(|one| one.closed_at.is_none());
    let id = bench.episode.as_ref().map(|one| one.id);
    let now = bench.now();
    let is_shelved = before.as_ref().is_some_and(|one| one.suppression.holds(now));
    let step = bench.level(level);
    let tell = step.as_ref().and_then(|step| step.tell);
    if bench.episode.as_ref().map(|one| one.id) != id {
        *onlooker = Onlooker::default();
    }
    onlooker.seen = onlooker.seen.max((level > Normal).then_some(level));
    onlooker.hears(tell);
    let told_before = before.as_ref().and_then(|one| one.course.told);
    let is_rise = level > Normal && told_before.is_none_or(|told| level > told);
    if before.is_some() && is_rise {
        assert_eq!(tell, Some(Tell::Raised(level)), "a level above every level told");
    } else if is_shelved {
        assert_eq!(tell, None, "told on the shelf");
    }
    let episode = bench.episode.as_ref();
    let seen = episode.and_then(|one| match &one.acknowledgement {
        pdm_shared::episode::AcknowledgementState::Acknowledged { level, .. } => Some(*level),
        pdm_shared::episode::AcknowledgementState::Unacknowledged => None,
    });
    assert!(seen.is_none_or(|seen| level <= seen), "acknowledged below its level");
}

fn frozen(bench: &mut Bench) {
    let open = |bench: &Bench| bench.episode.as_ref().is_some_and(|one| one.closed_at.is_none());
    let over = |bench: &Bench| bench.episode.as_ref().and_then(|one| one.course.over_at);
    let (was_open, was_over) = (open(bench), over(bench));
    let step = bench.frozen(FreezeCause::Standstill);
    assert!(step.is_none_or(|step| step.tell.is_none()), "a frozen window tells nothing");
    assert_eq!((open(bench), over(bench)), (was_open, was_over), "nor does it clear anything");
}

fn play(acts: &[Act]) -> Bench {
    let mut bench = Bench::new();
    let mut onlooker = Onlooker::default();
    for act in acts {
        match act {
            Act::Windows(count, level) => {
                for _ in 0..*count {
                    tick(&mut bench, &mut onlooker);
                    window(&mut bench, &mut onlooker, *level);
                }
            }
            Act::Frozen(count) => {
                for _ in 0..*count {
                    tick(&mut bench, &mut onlooker);
                    frozen(&mut bench);
                }
            }
            Act::Acknowledge => bench.acknowledge(),
            Act::Shelve(hours) => bench.shelve(f64::from(*hours)),
        }
        let kept = bench.episode.as_ref().map(|one| {
            let text = serde_json::to_string(&one.course).expect("json");
            serde_json::from_str::<Course>(&text).expect("read back")
        });
        assert_eq!(kept.as_ref(), bench.episode.as_ref().map(|one| &one.course));
    }
    bench
}

/// The watch over time: after it nothing that was seen is untold.
fn tick(bench: &mut Bench, onlooker: &mut Onlooker) {
    let count = bench.told.len();
    bench.end_shelf();
    let told = bench.told.get(count).map(|(_, tell)| *tell);
    onlooker.hears(told);
    assert!(onlooker.told >= onlooker.seen, "seen {:?}", onlooker.seen);
}

/// The most tellings of one level within 24 hours.
fn most_in_a_day(bench: &Bench, level: RiskLevel) -> usize {
    let times: Vec<f64> = bench
        .told
        .iter()
        .filter(|(_, tell)| *tell == Tell::Raised(level))
        .map(|(minutes, _)| *minutes)
        .collect();
    let within =
        |from: f64| times.iter().filter(|at| (0.0..1440.0).contains(&(**at - from))).count();
    times.iter().map(|from| within(*from)).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A level above every level told is told at once, on a shelf too; an acknowledgement never
    /// covers a level above its own; frozen windows do nothing; nothing seen stays untold.
    #[test]
    fn nothing_is_lost_by_holds_shelves_and_silence(acts in prop::collection::vec(act(true),
        1..40)) {
        let _bench = play(&acts);
    }

    #[test]
    fn a_level_below_critical_is_told_at_most_twice_in_a_day(
        acts in prop::collection::vec(act(false), 1..60),
    ) {
        let bench = play(&acts);
        prop_assert!(most_in_a_day(&bench, Watch) <= 2, "{:?}", bench.told);
        prop_assert!(most_in_a_day(&bench, Warning) <= 2, "{:?}", bench.told);
    }

    /// Without a shelf, whose end tells of the levels that came and went meanwhile.
    #[test]
    fn an_end_is_told_once_for_what_was_told(acts in prop::collection::vec(act(false), 1..40)) {
        let bench = play(&acts);
        let mut stands = true;
        for (_, tell) in &bench.told {
            let is_end = matches!(tell, Tell::Cleared(_));
            prop_assert!(stands || !is_end, "{:?}", bench.told);
            stands = !is_end;
        }
    }
}
