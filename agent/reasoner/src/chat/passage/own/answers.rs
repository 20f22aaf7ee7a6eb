//! What the plant's own documents answer to a question that no record answers: the pieces that have
//! its words. Where they have some of them alone, the answer says which it lacks; where they have
//! none, which sections there are. A state of the machine in the place of an answer would hide that
//! there is none.

use pdm_shared::text::Language;

use super::super::super::desk::CoreFields;
use super::super::terms::{Term, telling};
use super::figures::{asks_figure, has_free_figure, nearest, no_figure};
use super::machine::{Machine, call_by_ids, machines};
use super::units::{PlantSection, Unit, UnitKind};
use super::{documents, is_of_another_site};
use crate::toolbox::Toolbox;

/// Pieces of an answer.
const UNITS: usize = 6;
/// Sections of an outline.
const OUTLINE: usize = 12;
/// Longest text that a paragraph is told with, those behind it together, characters.
const LONGEST: usize = 600;
/// Least share of the question's words, weighted by how rare they are, that a piece has which
/// answers. Chosen by the questions of three plants whose documents answered some of them and had
/// words alone for others.
const ANSWERS: f64 = 0.7;
/// The same share with every word at its full weight, which answers as well: of "highest heating
/// temperature when mounting the dryer bearing" the plant's own limit has most words, and a general
/// table must not stand in its place.
const ANSWERS_STRICT: f64 = 0.6;
/// The same share where no other section comes near: the second best one has at most this share of
/// the fit of the best, which has two words at least. Chosen by the questions of four plants in
/// other words than their documents (`tests/paraphrases`): what no document says has a second one.
const CLEAR: f64 = 0.52;
const FAR_BEHIND: f64 = 0.4;
/// Least share of a piece that is told as what comes nearest; of a machine's own documents, where
/// the list of their sections would stand in its place, half of it.
const PARTLY: f64 = 0.3;
const PARTLY_OF_MACHINE: f64 = 0.15;
/// Sections of which a piece is told as what comes nearest, and the share of the best one's fit
/// that the others have at least. Chosen: a reader takes in three passages at a glance, as of a
/// search.
const NEAREST: usize = 3;
const NEAR_BEST: f64 = 0.5;
/// Least share where the chat would else ask back which bearing is meant, and the words that a
/// piece must have there: "커플링 볼트 또 써도 돼" is answered by a rule, "why does it hum" by nothing but
/// the machine.
const ASKED_BACK: f64 = 0.45;
/// What a word counts that none of the plant's documents has, beside the rarest that some have: a
/// question in other words than the document's has many, and says what it asks for by those that
/// both have. Chosen: half.
const UNKNOWN_WORD: f64 = 0.5;
/// What a designation or another word with three figures counts beside a word. Chosen: it names one
/// thing.
const CODE: f64 = 2.0;
/// Share of the best piece's fit from which on another of its section is told, too.
const BESIDE: f64 = 0.75;
/// Least share where the question asks for records, and the words that a piece must have there.
/// Chosen: "should we stop it" stands in a list of telephones, too.
const SURE: f64 = 0.8;
/// The same where the piece has a designation of the question. Chosen: half; it names one thing.
const SURE_WITH_CODE: f64 = 0.5;
const SURE_WORDS: usize = 2;
/// What a piece counts that says what a word of the question means.
const DEFINES: f64 = 1.5;
/// What a form of a verb counts beside another word.
const OF_VERB: f64 = 0.5;
/// Pieces that name the machine, and their letters together, which are told where no piece answers.
const NAMING: usize = 6;
/// What a word of another step of the same procedure counts beside one of the step.
const OF_ANOTHER_STEP: f64 = 0.9;
/// What a word in the heading or title counts beside one in the piece.
const IN_HEAD: f64 = 0.8;

/// What the plant's own documents say to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::chat) enum OwnAnswer {
    /// Pieces that have its words.
    Said(String),
    /// Pieces that have some of them, and which they lack; or no figure where a quantity is asked
    /// for.
    Partly(String),
    /// None: the sections that there are about the machine.
    Sections(String),
}

/// How sure a piece has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat) enum Wanted {
    /// The question asks for a document: whatever comes nearest.
    Any,
    /// The chat would ask back which bearing is meant: half of the words, two of them at least.
    AskedBack,
    /// It was guessed what the question asks for: nearly all words, one of them the piece's own.
    Likely,
    /// It asks for records: nearly all words, two of them at least, and one of them the piece's
    /// own.
    Sure,
}

/// A piece of a section with the words of the question that it has.
struct Held<'s> {
    section: usize,
    unit: &'s Unit,
    /// How well it has each word, 0 to 1.
    words: Vec<f64>,
}

/// What the plant's own documents say to a question about these machines, or about none; nothing
/// where the plant has no documents, or none of the machine, or no piece is as sure as is wanted.
pub(in crate::chat) async fn answer_of_plant(
    tools: &dyn Toolbox,
    (meant, fleet): (&[&CoreFields], &[CoreFields]),
    (clause, wanted): (&str, Wanted),
    language: Language,
) -> Option<OwnAnswer> {
    let about = machines(meant, fleet);
    let mut queries: Vec<String> =
        about.iter().map(|one| format!("{} {} {clause}", one.id, one.names.join(" "))).collect();
    queries.extend(about.iter().map(|one| format!("{} {}", one.id, one.names.join(" "))));
    queries.push(clause.to_owned());
    let mut sections = documents::read_documents(tools, &queries, language).await;
    keep_those_of(&mut sections, &about, fleet);
    let mut terms = of_question(clause, &about);
    let all: Vec<&CoreFields> = fleet.iter().collect();
    call_by_ids(&mut terms, &machines(&all, fleet));
    let least = if about.is_empty() { PARTLY } else { PARTLY_OF_MACHINE };
    let asked = AskedWords { terms, wants_figure: asks_figure(clause), least };
    match (said(&sections, &asked, wanted, language), wanted) {
        (Some(said), _) => Some(said),
        (None, Wanted::AskedBack | Wanted::Likely | Wanted::Sure) => None,
        (None, Wanted::Any) => {
            let told = naming(&sections, &about, language);
            told.or_else(|| outline(&sections, &about, language)).map(OwnAnswer::Sections)
        }
    }
}

/// Leaves what is of the machines, or of none; everything where no machine is meant.
fn keep_those_of(sections: &mut Vec<PlantSection>, about: &[Machine], fleet: &[CoreFields]) {
    if about.is_empty() {
        return;
    }
    let all: Vec<&CoreFields> = fleet.iter().collect();
    let everyone = machines(&all, fleet);
    let is_meant = |one: &Machine| about.iter().any(|own| own.id == one.id && own.site == one.site);
    for section in &mut *sections {
        let named = section.machines_named(&everyone);
        let others: Vec<Machine> = named.iter().filter(|one| !is_meant(one)).cloned().collect();
        let mut kept: Vec<Unit> = Vec::new();
        for machine in about.iter().filter(|one| !is_of_another_site(section, one, &named, fleet)) {
            let own = section.of_machine(machine, &others, true);
            kept.extend(own.into_iter().filter(|unit| !kept.contains(unit)).collect::<Vec<_>>());
        }
        section.units = kept;
    }
    sections.retain(|section| !section.units.is_empty());
}

/// The telling words of a question beside the names of its machines.
fn of_question(clause: &str, about: &[Machine]) -> Vec<Term> {
    let mut terms = telling(clause);
    terms.retain(|term| {
        let is_name = |one: &Machine| {
            let is_of = |name: &String| {
                name.contains(term.word()) || term.word().starts_with(name.as_str())
            };
            is_of(&one.id) || one.names.iter().any(is_of)
        };
        !about.iter().any(is_name)
    });
    terms
}

/// What a question asks of the documents.
struct AskedWords {
    /// Its telling words.
    terms: Vec<Term>,
    /// It asks for a figure: how much, how long, how many.
    wants_figure: bool,
    /// Least share of a piece that is told as what comes nearest.
    least: f64,
}

/// The pieces that have most of the question's words.
fn said(
    sections: &[PlantSection],
    asked: &AskedWords,
    wanted: Wanted,
    language: Language,
) -> Option<OwnAnswer> {
    let terms = &asked.terms;
    let pieces = held(sections, terms);
    let weights = weights(&pieces, terms);
    let whole: f64 = weights.iter().sum();
    let fit = |piece: &Held<'_>| -> f64 {
        let words = piece.words.iter().zip(&weights);
        let all: f64 = words.map(|(held, weight)| held * weight).sum();
        // `축수: 베어링` says what the word means
        let defines = terms.iter().any(|term| is_defined_by(&piece.unit.text, term.word()));
        if defines { DEFINES * all } else { all }
    };
    // the first of equal ones
    let best = pieces.iter().rev().max_by(|a, b| fit(a).total_cmp(&fit(b)))?;
    let has = best.words.iter().zip(&weights).filter(|(held, _)| **held > 0.0);
    let share = has.map(|(_, weight)| weight).sum::<f64>() / whole;
    let own = best.words.iter().filter(|held| **held >= 1.0).count();
    let held = best.words.iter().filter(|held| **held > 0.0).count();
    let has_code = terms.iter().zip(&best.words).any(|(t, held)| *held >= 1.0 && is_code(t.word()));
    let sure = if has_code { SURE_WITH_CODE } else { SURE };
    let is_enough = match wanted {
        Wanted::Any => share >= asked.least,
        Wanted::AskedBack => share >= ASKED_BACK && held >= SURE_WORDS,
        Wanted::Likely => share >= sure && own > 0,
        Wanted::Sure => share >= sure && own > 0 && held >= SURE_WORDS,
    };
    if whole <= 0.0 || !is_enough {
        return None;
    }
    let told = passage_of(sections, &pieces, best, fit)?;
    let unknown = terms.iter().zip(&weights).enumerate().filter(|(at, (term, _))| {
        !term.is_predicate() && pieces.iter().all(|piece| piece.words[*at] <= 0.0)
    });
    let unknown: f64 = unknown.map(|(_, (_, weight))| weight * (1.0 / UNKNOWN_WORD - 1.0)).sum();
    let strict = share * whole / (whole + unknown);
    let is_clear = strict >= CLEAR && held >= SURE_WORDS && is_far_ahead(&pieces, best, fit);
    if share >= ANSWERS || strict >= ANSWERS_STRICT || is_clear {
        let has_figure = !asked.wants_figure || told.lines().skip(1).any(has_free_figure);
        return Some(if has_figure {
            OwnAnswer::Said(told)
        } else {
            OwnAnswer::Partly(format!("{}\n{told}", no_figure(language)))
        });
    }
    let lacking = terms.iter().zip(&best.words);
    let lacking = lacking.filter(|(term, held)| **held == 0.0 && !term.is_predicate());
    let lacking: Vec<&str> = lacking.map(|(term, _)| term.word()).collect();
    let others = next_best(sections, &pieces, best, fit);
    let told = std::iter::once(told).chain(others).collect::<Vec<_>>().join("\n");
    Some(OwnAnswer::Partly(format!("{}\n{told}", nearest(&lacking.join(", "), language))))
}

/// Whether no piece of another section comes near the best one.
fn is_far_ahead(
    pieces: &[Held<'_>],
    best: &Held<'_>,
    fit: impl Fn(&Held<'_>) -> f64 + Copy,
) -> bool {
    let others = pieces.iter().filter(|piece| piece.section != best.section);
    others.map(fit).fold(0.0, f64::max) <= FAR_BEHIND * fit(best)
}

/// A piece with those beside it that fit nearly as well.
fn passage_of(
    sections: &[PlantSection],
    pieces: &[Held<'_>],
    best: &Held<'_>,
    fit: impl Fn(&Held<'_>) -> f64,
) -> Option<String> {
    let is_beside =
        |piece: &&Held<'_>| piece.section == best.section && fit(piece) >= BESIDE * fit(best);
    let chosen: Vec<&Unit> = pieces.iter().filter(is_beside).map(|piece| piece.unit).collect();
    Some(text_of_pieces(sections.get(best.section)?, &chosen))
}

/// The best pieces of other sections, where no piece has most of the words: the reader sees which
/// one answers.
fn next_best(
    sections: &[PlantSection],
    pieces: &[Held<'_>],
    best: &Held<'_>,
    fit: impl Fn(&Held<'_>) -> f64 + Copy,
) -> Vec<String> {
    let mut of_sections: Vec<&Held<'_>> = Vec::new();
    for piece in pieces.iter().filter(|piece| fit(piece) >= NEAR_BEST * fit(best)) {
        match of_sections.iter_mut().find(|other| other.section == piece.section) {
            Some(other) if fit(other) >= fit(piece) => {}
            Some(other) => *other = piece,
            None => of_sections.push(piece),
        }
    }
    of_sections.retain(|piece| piece.section != best.section);
    of_sections.sort_by(|one, other| fit(other).total_cmp(&fit(one)));
    let told = of_sections.into_iter().take(NEAREST - 1);
    told.filter_map(|piece| passage_of(sections, pieces, piece, fit)).collect()
}

fn held<'s>(sections: &'s [PlantSection], terms: &[Term]) -> Vec<Held<'s>> {
    let mut all = Vec::new();
    for (at, section) in sections.iter().enumerate() {
        let head = format!("{} {}", section.title, section.heading.to_lowercase());
        let in_head: Vec<f64> =
            terms.iter().map(|term| IN_HEAD * term.share_held_by(&head)).collect();
        for unit in &section.units {
            let lower = unit.text.to_lowercase();
            let words = terms.iter().zip(&in_head);
            let words = words.map(|(term, head)| term.share_held_by(&lower).max(*head)).collect();
            all.push(Held { section: at, unit, words });
        }
    }
    as_one_procedure(&mut all, sections.len());
    all
}

/// Gives each step the words of all steps of its section: they answer together.
fn as_one_procedure(pieces: &mut [Held<'_>], sections: usize) {
    for at in 0..sections {
        let is_step =
            |piece: &&mut Held<'_>| piece.section == at && piece.unit.kind == UnitKind::Step;
        let mut all: Vec<f64> = Vec::new();
        for piece in pieces.iter_mut().filter(is_step) {
            all.resize(piece.words.len(), 0.0);
            for (all, one) in all.iter_mut().zip(&piece.words) {
                *all = all.max(*one);
            }
        }
        for piece in pieces.iter_mut().filter(is_step) {
            for (one, all) in piece.words.iter_mut().zip(&all) {
                *one = one.max(OF_ANOTHER_STEP * all);
            }
        }
    }
}

/// Whether a word is a designation or a number: three figures at least.
fn is_code(word: &str) -> bool {
    word.chars().filter(char::is_ascii_digit).count() > 2
}

/// How rare each word is among the pieces.
fn weights(pieces: &[Held<'_>], terms: &[Term]) -> Vec<f64> {
    let all = pieces.len() as f64;
    let weight = |(at, term): (usize, &Term)| {
        let count = pieces.iter().filter(|piece| piece.words[at] > 0.0).count() as f64;
        match (term.is_predicate(), count > 0.0) {
            // a form of a verb that no document has says nothing of what is asked for
            (true, false) => 0.0,
            (true, true) => OF_VERB * (1.0 + all / count).ln(),
            (false, false) => UNKNOWN_WORD * (1.0 + all).ln(),
            (false, true) if is_code(term.word()) => CODE * (1.0 + all / count).ln(),
            (false, true) => (1.0 + all / count).ln(),
        }
    };
    terms.iter().enumerate().map(weight).collect()
}

/// Whether a piece says what a word means: it begins with it and a colon.
fn is_defined_by(text: &str, word: &str) -> bool {
    let begin = text.trim_start_matches(['-', '*', ' ']).to_lowercase();
    begin.strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with([':', '=']))
}

/// Pieces of a section under its head. A paragraph goes on with those behind it; a step is told
/// with all steps, because a procedure with a gap is dangerous. A gap is marked, and so are steps
/// that are too long to be told whole.
pub(super) fn text_of_pieces(section: &PlantSection, chosen: &[&Unit]) -> String {
    let is_step = |unit: &Unit| unit.kind == UnitKind::Step;
    let has_step = chosen.iter().any(|unit| is_step(unit));
    let steps = section.units.iter().filter(|unit| is_step(unit));
    let steps: usize = steps.map(|unit| unit.text.chars().count()).sum();
    let with_steps = has_step && steps <= 2 * LONGEST;
    let mut lines: Vec<String> = vec![section.head()];
    let (mut goes_on, mut left_out, mut count) = (0_usize, false, 0_usize);
    for unit in &section.units {
        let is_chosen = chosen.contains(&unit) && count < UNITS || with_steps && is_step(unit);
        let letters = unit.text.chars().count();
        let is_behind =
            goes_on > 0 && unit.kind == UnitKind::Paragraph && goes_on + letters <= LONGEST;
        if is_chosen || is_behind {
            // steps that stand before are missed as well; other pieces stand alone
            let is_gap = left_out && (lines.len() > 1 || is_step(unit));
            lines.extend(is_gap.then(|| "…".to_owned()));
            lines.push(unit.text.clone());
            count += usize::from(is_chosen);
            left_out = false;
        } else {
            left_out |= lines.len() > 1 || is_step(unit);
        }
        let is_told = unit.kind == UnitKind::Paragraph && (is_chosen || is_behind);
        goes_on = if is_told { goes_on + letters } else { 0 };
    }
    let is_cut = left_out && has_step && !with_steps;
    lines.extend(is_cut.then(|| "…".to_owned()));
    lines.join("\n")
}

/// The pieces that name the machines themselves, where they are few; none where they are many.
fn naming(sections: &[PlantSection], about: &[Machine], language: Language) -> Option<String> {
    let is_of = |unit: &Unit| {
        let lower = unit.text.to_lowercase();
        about.iter().any(|own| own.is_named_in(&lower))
    };
    let mut told: Vec<String> = Vec::new();
    let (mut count, mut letters) = (0, 0);
    for section in sections {
        let units: Vec<&str> = section
            .units
            .iter()
            .filter(|unit| is_of(unit))
            .map(|unit| unit.text.as_str())
            .collect();
        if !units.is_empty() {
            count += units.len();
            letters += units.iter().map(|text| text.chars().count()).sum::<usize>();
            told.push(format!("{}\n{}", section.head(), units.join("\n")));
        }
    }
    let head = match language {
        Language::Ko => "현장 문서에서 바로 그 답을 찾지 못했습니다. 이 설비에 대해 적힌 것:",
        Language::En => {
            "I found no direct answer in the plant's documents. What they say of this machine:"
        }
    };
    let is_few = count > 0 && count <= NAMING && letters <= 2 * LONGEST;
    is_few.then(|| format!("{head}\n{}", told.join("\n")))
}

/// The headings of the documents that speak of the machines.
fn outline(sections: &[PlantSection], about: &[Machine], language: Language) -> Option<String> {
    let is_of = |section: &&PlantSection| {
        let heading = section.heading.to_lowercase();
        about.iter().any(|own| {
            own.is_named_in(&section.title)
                || own.is_named_in(&heading)
                || section.units.iter().any(|unit| own.is_named_in(&unit.text.to_lowercase()))
        })
    };
    let mut told: Vec<String> = Vec::new();
    for section in sections.iter().filter(is_of) {
        let line = format!("- {}", section.head());
        if !told.contains(&line) {
            told.push(line);
        }
    }
    told.truncate(OUTLINE);
    let head = match language {
        Language::Ko => "현장 문서에서 그 답을 찾지 못했습니다. 이 설비가 나오는 곳:",
        Language::En => {
            "I found no answer to that in the plant's documents. They speak of this machine in:"
        }
    };
    (!told.is_empty()).then(|| format!("{head}\n{}", told.join("\n")))
}

#[cfg(test)]
mod tests;
