//! Mutations of every text that the scenarios produce: one digit or one unit changed must be
//! withheld, and what is true must not (R-AGENT-2).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pdm_expert::grounding::{Grounds, WITHHELD, withhold};
use pdm_expert::rules::Rules;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::text::Text;
use rand::{Rng as _, SeedableRng as _};

use super::play::{Cast, play_by};
use crate::workflow::expert::{Turn, Want};
use crate::workflow::{Expert, Reasoner, State, WorkflowError};

/// The expert, whose conclusions are kept with the state they were made from.
#[derive(Debug)]
struct Recorder {
    expert: Expert,
    concluded: Mutex<Vec<(State, Diagnosis)>>,
}

#[async_trait]
impl Reasoner for Recorder {
    async fn reason(&self, state: &State, has_tools: bool) -> Result<Turn, WorkflowError> {
        let turn = self.expert.reason(state, has_tools).await?;
        if let Want::Conclude(judgement) = &turn.want {
            let one = (state.clone(), judgement.diagnosis.clone());
            self.concluded.lock().expect("one thread").push(one);
        }
        Ok(turn)
    }
}

/// Every conclusion of every scenario, with its state.
async fn conclusions() -> Vec<(State, Diagnosis)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/scenarios");
    let cast = Cast::default();
    let expert = Expert::new(Rules::default());
    let recorder = Arc::new(Recorder { expert, concluded: Mutex::default() });
    for scenario in super::read_scenarios(&folder).expect("scenarios") {
        let place = tempfile::tempdir().expect("folder");
        let reasoner: Arc<dyn Reasoner> = recorder.clone();
        let played =
            Box::pin(play_by(&scenario, &cast, place.path(), reasoner)).await.expect("played");
        assert!(played.wrong.is_empty(), "{}: {:#?}", played.name, played.wrong);
    }
    std::mem::take(&mut *recorder.concluded.lock().expect("one thread"))
}

fn held(diagnosis: &Diagnosis, state: &State) -> Vec<String> {
    held_texts(diagnosis, state).0
}

/// Returns the withheld figures, and the texts with the marks in their place.
fn held_texts(diagnosis: &Diagnosis, state: &State) -> (Vec<String>, Vec<Text>) {
    let (event, memory) = (&state.event_payload, &state.memory_context);
    let grounds = Grounds { event, memory, inquiry: &state.inquiry };
    let mut diagnosis = diagnosis.clone();
    let withheld = withhold(&mut diagnosis, &grounds, &Rules::default());
    let marked = texts(&mut diagnosis)
        .into_iter()
        .filter(|text| text.en.contains(WITHHELD.1) || text.ko.contains(WITHHELD.0));
    (withheld, marked.map(|text| text.clone()).collect())
}

/// The texts of a diagnosis that its reader sees as its words.
fn texts(diagnosis: &mut Diagnosis) -> Vec<&mut Text> {
    let thoughts = diagnosis.thoughts.iter_mut().map(|thought| &mut thought.conclusion);
    let rest = [&mut diagnosis.recommendation, &mut diagnosis.memory.summary];
    let changes = diagnosis.research.iter_mut().flat_map(|research| &mut research.changes);
    thoughts
        .chain(rest)
        .chain(&mut diagnosis.uncertainty.causes)
        .chain(changes.map(|change| &mut change.text))
        .collect()
}

/// Units by what is exchanged for each other.
const UNITS: &[(&str, &str)] = &[
    ("시간", "일"),
    ("일", "시간"),
    ("분", "시간"),
    ("단계", "일"),
    ("회", "일"),
    ("개", "dB"),
    ("건", "시간"),
    (" dB", " g"),
    (" h", " days"),
    (" days", " h"),
    (" day", " h"),
    (" hours", " days"),
    (" hour", " days"),
    (" minutes", " hours"),
    (" rounds", " days"),
    (" g/h", " g"),
    (" multiples", " sidebands"),
    (" sidebands", " multiples"),
    (" times", " days"),
];

/// Every text that differs from `text` in one digit or in one unit.
fn mutations(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (at, digit) in text.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        for other in ('0'..='9').filter(|other| *other != digit) {
            all.push(format!("{}{other}{}", &text[..at], &text[at + 1..]));
        }
        for (unit, other) in UNITS {
            let after = &text[at + 1..];
            let whole = |rest: &str| {
                !unit.is_ascii() || !rest.starts_with(|c: char| c.is_ascii_alphanumeric())
            };
            if let Some(rest) = after.strip_prefix(unit).filter(|rest| whole(rest)) {
                all.push(format!("{}{other}{rest}", &text[..=at]));
            }
        }
    }
    all
}

/// Most mutations that are tried, drawn from all by a seed; `PDM_MUTATIONS` sets another number, up
/// to all of them.
const TRIED: usize = 3000;

#[tokio::test(flavor = "multi_thread")]
async fn a_figure_or_unit_that_is_changed_is_withheld_and_a_true_one_is_not() {
    let concluded = Box::pin(conclusions()).await;
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    let mut true_withheld = Vec::new();
    for (at, (state, diagnosis)) in concluded.iter().enumerate() {
        let (withheld, marked) = held_texts(diagnosis, state);
        if !withheld.is_empty() {
            true_withheld.push((withheld, marked));
        }
        let mut copy = diagnosis.clone();
        for (place, text) in texts(&mut copy).into_iter().enumerate() {
            for (language, words) in [&text.ko, &text.en].into_iter().enumerate() {
                if seen.insert(words.clone()) {
                    let mutated = mutations(words).into_iter();
                    all.extend(mutated.map(|mutated| (at, place, language, mutated)));
                }
            }
        }
    }
    let shown = &true_withheld[..true_withheld.len().min(12)];
    assert!(true_withheld.is_empty(), "{} judgements: {shown:#?}", true_withheld.len());
    let (made, distinct) = (all.len(), seen.len());
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(18);
    let mut passed = Vec::new();
    let wanted = std::env::var("PDM_MUTATIONS").ok().and_then(|most| most.parse().ok());
    let tried = wanted.unwrap_or(TRIED).min(all.len());
    for _ in 0..tried {
        let one = (random.next_u64() % all.len() as u64) as usize;
        let (at, place, language, mutated) = all.swap_remove(one);
        let (state, diagnosis) = &concluded[at];
        let mut changed = diagnosis.clone();
        let mut places = texts(&mut changed);
        let text = &mut *places[place];
        if language == 0 {
            text.ko.clone_from(&mutated);
        } else {
            text.en.clone_from(&mutated);
        }
        if held(&changed, state).is_empty() {
            let mut was = diagnosis.clone();
            let was = texts(&mut was)[place].clone();
            passed.push((mutated, if language == 0 { was.ko } else { was.en }));
        }
    }
    println!(
        "{} judgements, {distinct} distinct texts, {made} mutations, {tried} tried, {} not \
         withheld",
        concluded.len(),
        passed.len()
    );
    assert!(tried >= 1000, "{tried} mutations");
    assert!(
        passed.is_empty(),
        "{} of {tried} were not withheld: {:#?}",
        passed.len(),
        &passed[..passed.len().min(20)]
    );
}
