//! What the plant's own documents say to a question, and in whose place it stands: of what an
//! answer has from records, from general tables, or from a guess.

use pdm_shared::id::BearingKey;
use pdm_shared::text::Language;

use super::StepCall;
use super::desk::CoreFields;
use super::entities::Meant;
use super::extract::Sources;
use super::intent::{self, Lookup};
use super::passage::own::{self, OwnAnswer, Stated, Wanted};
use super::planning::Part;
use super::reader::Reader;

/// How well the plant's documents answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answers {
    /// They state what is asked for of the machine.
    Stated(Vec<Stated>),
    /// A piece of them has the words of the question.
    Said,
    /// They have no answer: what comes nearest.
    Nearest,
}

/// What the plant's own documents say.
pub(super) struct OwnWords {
    pub(super) told: String,
    pub(super) call: StepCall,
    pub(super) answers: Answers,
}

/// What the plant's own documents say to a plan.
pub(super) async fn own_words(
    (plan, meant): (&[Part], &Meant),
    fleet: &[CoreFields],
    reader: Reader,
    sources: &Sources<'_>,
) -> Option<OwnWords> {
    let mut clauses: Vec<&str> = plan.iter().map(|part| part.clause.as_str()).collect();
    clauses.dedup();
    let clause = clauses.join(" ");
    let whole = whole(plan, sources.message).unwrap_or(&clause);
    let of = |key: &BearingKey| fleet.iter().find(|core| core.key == *key);
    let mut cores: Vec<&CoreFields> = meant.keys.iter().filter_map(of).collect();
    own::leave_strokes(&mut cores, fleet, &clause);
    if let Some(told) = permitted((plan, &cores), whole, fleet, reader, sources).await {
        return Some(told);
    }
    if let Some(stated) = stated((plan, &cores), &clause, fleet, reader, sources).await {
        let other = other_limit((&cores, fleet), whole, &stated, reader, sources).await;
        return Some(other.unwrap_or(stated));
    }
    let wanted = wanted(plan)?;
    let (tools, language) = (sources.tools, reader.language);
    let scope = (&cores[..], fleet);
    let (told, answers) =
        match own::answer_of_plant(tools, scope, (whole, wanted), language).await? {
            OwnAnswer::Said(told) => (told, Answers::Said),
            OwnAnswer::Partly(told) | OwnAnswer::Sections(told) => (told, Answers::Nearest),
        };
    Some(OwnWords { told, call: own::call_for(whole), answers })
}

/// Longest question that documents are asked with as a whole, characters. Chosen: a case and what
/// is asked of it; a longer one tells a story.
const WHOLE: usize = 200;

/// The whole of a question of which the plan reads parts ("gas escapes, whom do I phone"); nothing
/// where the plan goes on with another one, or the question tells a story.
fn whole<'m>(plan: &[Part], message: &'m str) -> Option<&'m str> {
    let is_part = |part: &Part| message.contains(part.clause.as_str());
    (plan.iter().all(is_part) && message.chars().count() <= WHOLE).then_some(message)
}

/// Most machines that a question for a permission is about; a kind of machine in it (`pump`) names
/// none. Chosen: two.
const ASKED_ABOUT: usize = 2;

/// What they say to a question whether something may be done with a grease, an oil or a bolt: a
/// rule, where the values of the machine would not answer.
async fn permitted(
    (plan, cores): (&[Part], &[&CoreFields]),
    clause: &str,
    fleet: &[CoreFields],
    reader: Reader,
    sources: &Sources<'_>,
) -> Option<OwnWords> {
    let is_of_machine = |part: &Part| matches!(part.lookup, Lookup::Stop | Lookup::State);
    let asks = intent::asks_permission(clause) && !plan.iter().any(is_of_machine);
    if !asks || own::Stated::asked_by(clause).contains(&Stated::Isolation) {
        return None;
    }
    let about = if cores.len() > ASKED_ABOUT { &[] } else { cores };
    let asked = (clause, Wanted::AskedBack);
    match own::answer_of_plant(sources.tools, (about, fleet), asked, reader.language).await? {
        OwnAnswer::Said(told) => {
            Some(OwnWords { told, call: own::call_for(clause), answers: Answers::Said })
        }
        OwnAnswer::Partly(_) | OwnAnswer::Sections(_) => None,
    }
}

/// What they state of a machine, where a question asks for a torque, a lubricant, a limit of
/// vibration or a lock-out.
async fn stated(
    (plan, cores): (&[Part], &[&CoreFields]),
    clause: &str,
    fleet: &[CoreFields],
    reader: Reader,
    sources: &Sources<'_>,
) -> Option<OwnWords> {
    let (tools, language) = (sources.tools, reader.language);
    if cores.is_empty() {
        // a general table answers beside it, and says which value counts
        if plan.iter().all(|part| part.lookup != Lookup::Value) {
            return None;
        }
        let told = own::of_some_machine(tools, sources.fleet, clause, language).await?;
        let answers = Answers::Stated(Vec::new());
        return Some(OwnWords { told, call: own::call_for(clause), answers });
    }
    // a replacement begins with the machine's own lock-out, where the plant has written one
    let is_replacement = plan.iter().any(|part| part.lookup == Lookup::Replacement);
    let asked = if is_replacement { format!("{clause} LOTO") } else { clause.to_owned() };
    let own = own::of_machines(tools, (cores, fleet), &asked, language).await?;
    let is_general = !own.told.starts_with('[') || own.told.starts_with("[EM-");
    (!is_replacement || !is_general).then_some(OwnWords {
        told: own.told,
        call: own.call,
        answers: Answers::Stated(own.stated),
    })
}

/// What they say of another limit than one of vibration: "at what pressure does the filter trip" has
/// the words of a limit, and a row of its own.
async fn other_limit(
    scope: (&[&CoreFields], &[CoreFields]),
    clause: &str,
    stated: &OwnWords,
    reader: Reader,
    sources: &Sources<'_>,
) -> Option<OwnWords> {
    let lower = clause.to_lowercase();
    let is_of_limit = stated.answers == Answers::Stated(vec![Stated::Limit]);
    if !is_of_limit || OF_VIBRATION.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let asked = (clause, Wanted::Likely);
    match own::answer_of_plant(sources.tools, scope, asked, reader.language).await? {
        OwnAnswer::Said(told) => {
            Some(OwnWords { told, call: own::call_for(clause), answers: Answers::Said })
        }
        OwnAnswer::Partly(_) | OwnAnswer::Sections(_) => None,
    }
}

/// Words by which a limit is one of vibration.
const OF_VIBRATION: [&str; 4] = ["vibrat", "진동", "mm/s", "velocity"];

/// How sure a piece of the documents has to be; nothing where the plan asks for none.
fn wanted(plan: &[Part]) -> Option<Wanted> {
    let asks = |part: &Part| {
        matches!(
            part.lookup,
            Lookup::Own
                | Lookup::Manual
                | Lookup::Search
                | Lookup::Replacement
                | Lookup::ReplaceTime
                | Lookup::Value
                | Lookup::Unmeasured
        )
    };
    if plan.iter().any(asks) {
        return Some(Wanted::Any);
    }
    let mut read = plan.iter().filter(|part| part.lookup != Lookup::NotRead).peekable();
    read.peek()?;
    let parts: Vec<&Part> = read.collect();
    match () {
        () if parts.iter().all(|part| leans_to_documents(part, STRONGLY)) => Some(Wanted::Any),
        () if parts.iter().all(|part| part.lookup == Lookup::Which) => Some(Wanted::AskedBack),
        () if parts.iter().all(|part| leans_to_documents(part, LEANS)) => Some(Wanted::AskedBack),
        () if parts.iter().all(|part| is_open(part)) => Some(Wanted::Likely),
        () if parts.iter().all(|part| is_of_work(part) || is_of_all(part) || is_open(part)) => {
            Some(Wanted::Sure)
        }
        () => None,
    }
}

/// Least likeness to questions for documents from which on a document that has half of the words is
/// told in the place of records. Chosen by 33 questions for records of a plant, of which one has
/// more (0.2, in two parts), and by those of `tests/paraphrases`.
const LEANS: f32 = 0.1;
/// The same from which on what comes nearest is told in their place. Chosen: twice what a question
/// for records had.
const STRONGLY: f32 = 0.4;

/// Whether a part resembles questions for documents as well, whatever it was taken for: "at what
/// does the oil flow alarm" has a word of the list of alarms.
fn leans_to_documents(part: &Part, least: f32) -> bool {
    part.lookup != Lookup::Which
        && intent::share_of_documents(&part.clause, part.about.is_some()) >= least
}

/// Whether a part answers with work, parts or time left: "when is the seal replaced" has the words
/// of open work, and asks for a rule that the plant wrote down.
const fn is_of_work(part: &Part) -> bool {
    matches!(
        part.lookup,
        Lookup::Work
            | Lookup::WorkOfAll
            | Lookup::Overdue
            | Lookup::LeadTime
            | Lookup::Stock
            | Lookup::Stop
            | Lookup::Life
            | Lookup::DueNext
    )
}

/// Whether a part lists records of the whole plant: "at what does the oil flow alarm" has the word
/// of the list of alarms, and asks for a value that the plant wrote down.
const fn is_of_all(part: &Part) -> bool {
    part.about.is_none()
        && matches!(
            part.lookup,
            Lookup::Fleet
                | Lookup::Alarms
                | Lookup::ToldOfAll
                | Lookup::NotesOfAll
                | Lookup::Thresholds
                | Lookup::Stops
                | Lookup::Standing
                | Lookup::Heard
                | Lookup::Identity
        )
}

/// Whether a part answers for what was guessed alone, or asks which bearing is meant.
fn is_open(part: &Part) -> bool {
    part.lookup == Lookup::Which
        || intent::is_guessed(part.lookup, &part.clause, part.about.is_some())
}

/// Whether the plant's documents stand in the place of a part.
pub(super) fn stand_for(answers: &Answers, (part, text): (&Part, &str)) -> bool {
    if is_of_passages(part) && !is_shipped(text) {
        // pieces of the same documents, which are chosen less well
        return true;
    }
    let is_general = matches!(
        part.lookup,
        Lookup::Own | Lookup::Search | Lookup::NotRead | Lookup::Which | Lookup::Unmeasured
    );
    match answers {
        // a question back says less than what comes nearest
        Answers::Nearest => {
            matches!(part.lookup, Lookup::Own | Lookup::Which) || is_of_records(part)
        }
        Answers::Said => {
            is_general
                || is_open(part)
                || leans_to_documents(part, LEANS)
                || is_of_all(part)
                || matches!(part.lookup, Lookup::Manual | Lookup::Value | Lookup::LeadTime)
        }
        Answers::Stated(stated) => !stated.is_empty() && is_in_place_of(stated, part),
    }
}

/// Whether a part is a general answer in whose place the plant's own statements stand. A question
/// how a machine is locked out is none whether it may run.
fn is_in_place_of(stated: &[Stated], part: &Part) -> bool {
    if part.lookup == Lookup::State && intent::asks_permission(&part.clause) || is_open(part) {
        return true;
    }
    if part.lookup == Lookup::Value {
        let topic = intent::topic(&part.clause);
        return topic.is_some() && stated.iter().any(|one| one.topic() == topic);
    }
    stated.contains(&Stated::Isolation)
        && matches!(part.lookup, Lookup::Stop | Lookup::State | Lookup::Manual | Lookup::Work)
        || part.lookup == Lookup::Own
}

/// Whether what comes nearest is worth telling: the question asks for a document, and none that
/// comes with the program answers it; no record does either, but for a guess or that vibration says
/// nothing of it.
pub(super) fn is_worth(told: &[(&Part, String)]) -> bool {
    told.iter().all(|(part, text)| {
        is_open(part)
            || is_of_records(part)
            || intent::asks_beyond_vibration(&part.clause)
            || matches!(part.lookup, Lookup::NotRead | Lookup::Own | Lookup::Person)
            || is_of_passages(part) && !is_shipped(text)
    })
}

/// Whether a part was taken for a question for records, and resembles those for documents more.
fn is_of_records(part: &Part) -> bool {
    !part.lookup.is_of_documents() && leans_to_documents(part, STRONGLY)
}

const fn is_of_passages(part: &Part) -> bool {
    matches!(part.lookup, Lookup::Manual | Lookup::Search)
}

/// Whether a passage is of a document that comes with the program.
fn is_shipped(text: &str) -> bool {
    ["[EM-", "[MH-"].iter().any(|begin| text.trim_start().starts_with(begin))
}

/// Whether a plan asks for what the plant itself says, and nothing of it was found.
pub(super) fn lack(plan: &[Part], told: &[(&Part, String)]) -> bool {
    let is_own = |part: &Part| part.lookup == Lookup::Own;
    plan.iter().any(is_own) && !told.iter().any(|(part, _)| is_own(part))
}

/// Says of values of a general table that they are not those of the machine that is asked about.
pub(super) fn mark_general_values(told: &mut [(&Part, String)], meant: &Meant, language: Language) {
    if meant.keys.is_empty() {
        return;
    }
    let note = match language {
        Language::Ko => "이 설비의 값을 현장 문서에서 찾지 못했습니다. 일반 값입니다:",
        Language::En => {
            "I found no value of this machine in the plant's documents. General values:"
        }
    };
    for (_, text) in told.iter_mut().filter(|(part, _)| part.lookup == Lookup::Value) {
        *text = format!("{note}\n{text}");
    }
}
