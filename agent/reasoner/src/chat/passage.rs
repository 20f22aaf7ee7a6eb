//! The passage of a document that answers, not the document's head: the section whose lines have
//! most of the question's rare words, in whole sentences, in the asker's language where the
//! document has it.

use pdm_expert::research::{TEACHING_CASE, is_teaching_case};
use pdm_shared::text::Language;
use serde_json::{Map, Value, json};

use super::StepCall;
use super::intent::{QUESTION_WORDS, has};
use crate::links::without_links;
use crate::toolbox::{self, Toolbox};
use section::{Section, best, sections};
use terms::{Term, rarity, terms};

pub(super) mod own;
mod same_words;
mod section;
mod small_words;
mod terms;

/// The tools that search documents.
const MANUALS: &str = "search_equipment_manual";
const CASES: &str = "search_maintenance_history";
/// The procedure of replacing a bearing.
const PROCEDURE: &str = "EM-06";
/// Documents of a search whose passages are compared.
const DOCUMENTS: usize = 3;
/// A second document is told where its passage fits nearly as well as the first.
const SECOND: f64 = 0.75;
/// A second past case is told where its passage fits nearly as well as the first. Chosen: a
/// question for a case is for one.
const SECOND_CASE: f64 = 0.95;

/// A passage with what it is quoted as.
#[derive(Debug, Clone, PartialEq)]
struct Passage {
    document: String,
    title: String,
    heading: String,
    /// Heading and titles in both languages, in lower case.
    head: String,
    lines: Vec<String>,
    is_foreign: bool,
    /// A case that is invented for teaching.
    is_teaching: bool,
    fit: f64,
    /// How many of the question's words it holds, of all.
    share: f64,
}

/// Passages that a search found.
struct FoundPassage {
    /// The passages as they are told.
    told: String,
    /// Heading and titles of the first one, in both languages and in lower case.
    head: String,
    /// How much of the question the first one holds, 0 to 1.
    share: f64,
}

/// Least share of a question's words that a passage holds which answers a question of unknown
/// meaning. Chosen: half; with one word in four any document is found.
const LEAST_SHARE: f64 = 0.5;

/// Least probability that a document of the plant answers a question for records. Chosen: surer
/// than a search has to be, because the records answer, too; "when is the seal replaced" has 0.99.
const SURE: f64 = 0.9;

/// Searches the manuals for a question none of whose words says what is asked for. Returns only a
/// passage that holds most of its words, or that has its one word in its heading.
pub(super) async fn search(
    tools: &dyn Toolbox,
    clause: &str,
    language: Language,
) -> Option<String> {
    if let Some(told) = named(tools, clause, language).await {
        return Some(told);
    }
    let terms = terms(clause);
    let found = searched(tools, MANUALS, clause, language).await?;
    let is_in_head = terms.iter().any(|term| term.share_held_by(&found.head) > 0.0);
    let fits = found.share >= LEAST_SHARE && (terms.len() > 1 || is_in_head);
    fits.then_some(found.told)
}

/// Returns the answer of the manuals, else that of the past cases. A document that the clause names
/// is read by its number.
pub(super) async fn manual(
    tools: &dyn Toolbox,
    clause: &str,
    language: Language,
) -> Option<String> {
    if let Some(told) = named(tools, clause, language).await {
        return Some(told);
    }
    let clause = &without_designation(clause);
    let lower = clause.to_lowercase();
    let decisive = QUESTION_WORDS.passages.decisive.iter().find(|group| has(&lower, group));
    let Some(found) = searched(tools, MANUALS, clause, language).await else {
        if let Some(group) = decisive
            && let Some(found) = searched(tools, MANUALS, &group.join(" "), language).await
        {
            return Some(found.told);
        }
        return cases(tools, clause, language).await;
    };
    let Some(group) = decisive.filter(|group| !has(&found.head, group)) else {
        return Some(found.told);
    };
    // the search weighs all words alike: what the question turns on is searched for alone
    let again = searched(tools, MANUALS, &group.join(" "), language).await;
    Some(again.filter(|again| has(&again.head, group)).unwrap_or(found).told)
}

/// Returns what the documents that come with the program say. A procedure that the plant wrote for
/// some of its machines is no general one.
async fn shipped(tools: &dyn Toolbox, clause: &str, language: Language) -> Option<String> {
    let mut documents = documents_of(tools, MANUALS, clause).await?;
    let id = |one: &Value| one.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    documents.retain(|one| id(one).starts_with("EM-"));
    chosen(&documents, &terms(clause), false, language).map(|found| found.told)
}

/// A question for a procedure without the bearing's designation: procedures are the same for all,
/// and the only document that has the designation is its data sheet.
fn without_designation(clause: &str) -> String {
    if !has(&clause.to_lowercase(), &QUESTION_WORDS.procedure) {
        return clause.to_owned();
    }
    let is_designation = |word: &&str| word.chars().filter(char::is_ascii_digit).count() > 3;
    clause.split_whitespace().filter(|word| !is_designation(word)).collect::<Vec<_>>().join(" ")
}

/// The section of the document that a clause names (`EM-06 5절`, "section 5 of EM-06"), or its
/// outline.
pub(super) async fn named(tools: &dyn Toolbox, clause: &str, language: Language) -> Option<String> {
    let upper = clause.to_uppercase();
    let mut words = upper.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '.');
    let document = words.find(|word| {
        let parts = word.split_once('-');
        parts.is_some_and(|(letters, digits)| {
            letters.len() > 1
                && letters.chars().all(|c| c.is_ascii_uppercase())
                && !digits.is_empty()
                && digits.chars().all(|c| c.is_ascii_digit())
        })
    })?;
    let rest = clause.to_uppercase().replace(document, " ");
    let number: String = rest
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    let mut arguments = Map::from_iter([("document".to_owned(), Value::from(document))]);
    if !number.is_empty() {
        arguments.insert("number".to_owned(), Value::from(number.trim_matches('.')));
    }
    let answer = toolbox::traced(tools, "extraction", "read_document_section", arguments).await;
    let documents = answer.data.get("documents").and_then(Value::as_array)?;
    if number.is_empty() {
        return outline(documents, language);
    }
    let told = documents.iter().filter_map(|one| {
        let (text, is_foreign) = text_of(one, language)?;
        let sections = sections(text);
        let section = sections.first()?;
        let found = passage(one, section, 1.0, (&[], &[]), language)?;
        Some(Passage { is_foreign, ..found }.told(language))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("\n\n"))
}

/// Says how a bearing is replaced, in the order of the work: by the plant's own documents, then by
/// the sections of the procedure, whose first one, the lock-out, is told whole. Nobody gets a step
/// of the middle as the whole.
pub(super) async fn replacement(
    tools: &dyn Toolbox,
    clause: &str,
    language: Language,
) -> Option<String> {
    let own = of_plant(tools, clause, language).await.map(|(told, _)| told);
    let arguments = Map::from_iter([("document".to_owned(), Value::from(PROCEDURE))]);
    let answer = toolbox::traced(tools, "extraction", "read_document_section", arguments).await;
    let documents = answer.data.get("documents").and_then(Value::as_array);
    let is_it = |one: &&Value| {
        one.get("id").and_then(Value::as_str).is_some_and(|id| id.starts_with(PROCEDURE))
    };
    let first = documents.and_then(|all| all.first()).filter(is_it);
    let Some((documents, first)) = documents.zip(first) else {
        return manual(tools, clause, language).await;
    };
    let text = text_of(first, language);
    let all = text.map(|(text, _)| sections(text)).unwrap_or_default();
    let safety = all.first().and_then(|section| {
        let found = passage(first, section, 1.0, (&[], &[]), language)?;
        Some(
            Passage { is_foreign: text.is_some_and(|(_, foreign)| foreign), ..found }
                .told(language),
        )
    });
    let head = match language {
        Language::Ko => "순서대로, 먼저 잠금·표지(LOTO):",
        Language::En => "In this order, the lock-out (LOTO) first:",
    };
    let outline = outline(documents, language)?;
    let told = own.into_iter().chain([head.to_owned()]).chain(safety).chain([outline]);
    Some(told.collect::<Vec<_>>().join("\n\n"))
}

/// The headings of a document's sections.
fn outline(documents: &[Value], language: Language) -> Option<String> {
    let first = documents.first()?;
    let id = first.get("id")?.as_str()?.split('#').next()?;
    let headings = documents.iter().filter_map(|one| {
        let (text, _) = text_of(one, language)?;
        let told = heading(&sections(text).first()?.heading, language);
        (!told.is_empty()).then(|| format!("- §{told}"))
    });
    let headings: Vec<String> = headings.collect();
    let (head, end) = match language {
        Language::Ko => (
            format!("[{id}]의 절:"),
            format!("예를 들어 \"{id} 5절\"이라고 물으면 그 절을 보여 드립니다."),
        ),
        Language::En => (
            format!("The sections of [{id}]:"),
            format!("Ask for \"section 5 of {id}\", for example, to read one."),
        ),
    };
    (!headings.is_empty()).then(|| format!("{head}\n{}\n{end}", headings.join("\n")))
}

/// Returns a section of the plant's own documents for a question for records: one that the search
/// marks as the answer, or that holds most of its words. The documents that come with the program
/// are left out, since they speak of the bearings of every plant and would stand beside each
/// question.
pub(super) async fn of_plant(
    tools: &dyn Toolbox,
    clause: &str,
    language: Language,
) -> Option<(String, StepCall)> {
    let mut documents = documents_of(tools, MANUALS, clause).await?;
    let is = |one: &Value, field: &str| one.get(field).and_then(Value::as_bool);
    documents.retain(|one| is(one, "own") == Some(true) && is(one, "close") != Some(false));
    let score = documents.first()?.get("score").and_then(Value::as_f64).unwrap_or_default();
    let found = chosen(&documents, &terms(clause), false, language)?;
    let call = StepCall { name: MANUALS.to_owned(), arguments: json!({ "query": clause }) };
    (score >= SURE || found.share >= LEAST_SHARE).then_some((found.told, call))
}

/// Returns the answer of the past cases.
pub(super) async fn cases(tools: &dyn Toolbox, clause: &str, language: Language) -> Option<String> {
    searched(tools, CASES, clause, language).await.map(|found| found.told)
}

/// Returns the passages of the documents that a search finds; `None` if it finds none.
async fn searched(
    tools: &dyn Toolbox,
    tool: &str,
    clause: &str,
    language: Language,
) -> Option<FoundPassage> {
    let documents = documents_of(tools, tool, clause).await?;
    let terms = terms(clause);
    if let Some(first) =
        documents.first().filter(|first| tool == MANUALS && asks_for_all(first, &terms, language))
    {
        let id = first.get("id").and_then(Value::as_str).unwrap_or_default();
        let whole = Map::from_iter([("document".to_owned(), Value::from(id.split('#').next()))]);
        let read = toolbox::traced(tools, "extraction", "read_document_section", whole).await;
        let sections = read.data.get("documents").and_then(Value::as_array);
        if let Some(told) = sections.and_then(|sections| outline(sections, language)) {
            let head = told.to_lowercase();
            return Some(FoundPassage { told, head, share: 1.0 });
        }
    }
    chosen(&documents, &terms, tool == CASES, language)
}

/// The documents that a search finds, best first.
async fn documents_of(tools: &dyn Toolbox, tool: &str, clause: &str) -> Option<Vec<Value>> {
    let query: String = clause.chars().take(900).collect();
    let arguments = Map::from_iter([("query".to_owned(), Value::from(query))]);
    let answer = toolbox::traced(tools, "extraction", tool, arguments).await;
    answer.data.get("documents").and_then(Value::as_array).cloned()
}

/// The passages of documents that fit a question best.
fn chosen(
    documents: &[Value],
    terms: &[Term],
    is_case: bool,
    language: Language,
) -> Option<FoundPassage> {
    let mut passages: Vec<Passage> = Vec::new();
    let all: Vec<Vec<Section>> = documents
        .iter()
        .take(DOCUMENTS)
        .map(|document| sections(text_of(document, language).unwrap_or_default().0))
        .collect();
    let rarity = rarity(terms, all.iter().flatten());
    for ((document, sections), rank) in documents.iter().zip(&all).zip(0_u32..) {
        let found = best(sections, terms, &rarity, is_case);
        passages.extend(found.and_then(|(section, fit)| {
            let fit = fit * 0.9_f64.powi(i32::try_from(rank).ok()?);
            passage(document, section, fit, (terms, &rarity), language)
        }));
    }
    // the search knows words of one meaning that this choice does not: its order breaks ties
    passages.sort_by(|a, b| b.fit.total_cmp(&a.fit));
    let second = if is_case { SECOND_CASE } else { SECOND };
    let least = passages.first()?.fit * second;
    let head = passages.first()?.head.clone();
    let share = passages.first()?.share;
    let told = passages.iter().take(2).filter(|one| one.fit >= least);
    let told = told.map(|one| one.told(language)).collect::<Vec<_>>().join("\n\n");
    Some(FoundPassage { told, head, share })
}

impl Passage {
    fn told(&self, language: Language) -> String {
        let note = match (self.is_foreign, language) {
            (true, Language::En) => " (Korean original)",
            (true, Language::Ko) => " (영어 원문)",
            (false, _) => "",
        };
        let case = match (self.is_teaching, language) {
            (true, Language::Ko) => format!(" ({})", TEACHING_CASE.0),
            (true, Language::En) => format!(" ({})", TEACHING_CASE.1),
            (false, _) => String::new(),
        };
        let heading =
            if self.heading.is_empty() { String::new() } else { format!(" §{}", self.heading) };
        // whoever adds a document may not lead its readers to another server
        let mark = match language {
            Language::Ko => "[링크 삭제]",
            Language::En => "[link removed]",
        };
        let lines = self.lines.iter().map(|line| without_links(line, mark));
        let lines = lines.collect::<Vec<_>>().join("\n");
        format!("[{}]{heading} ({}){case}{note}\n{lines}", self.document, self.title)
    }
}

/// The number of a section and its heading in one language.
fn heading(heading: &str, language: Language) -> String {
    let number = heading.split(' ').next().unwrap_or_default();
    let words = super::values::in_language(heading, language).trim_start_matches(number);
    format!("{number} {}", words.trim()).trim().to_owned()
}

/// Whether all that a question names is the title of a document: then its outline answers.
fn asks_for_all(document: &Value, terms: &[Term], language: Language) -> bool {
    let field = if language == Language::En { "title_en" } else { "title" };
    let title = document.get(field).and_then(Value::as_str).unwrap_or_default().to_lowercase();
    terms.len() > 1 && terms.iter().all(|term| term.share_held_by(&title) > 0.0)
}

/// The text in the language, or in the other one.
fn text_of(document: &Value, language: Language) -> Option<(&str, bool)> {
    let text =
        |field: &str| document.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let own = text("text");
    match language {
        Language::Ko => own.map(|text| (text, false)),
        Language::En => match text("english") {
            Some(text) => Some((text, false)),
            None => own.map(|text| {
                let is_korean = text.chars().any(|c| ('가'..='힣').contains(&c));
                (text, is_korean)
            }),
        },
    }
}

fn passage(
    document: &Value,
    section: &Section,
    fit: f64,
    (terms, rarity): (&[Term], &[f64]),
    language: Language,
) -> Option<Passage> {
    let text = |field: &str| document.get(field).and_then(Value::as_str);
    let id = text("id")?;
    let (_, is_foreign) = text_of(document, language)?;
    let title = match language {
        Language::Ko => text("title"),
        Language::En => text("title_en").or_else(|| text("title")),
    };
    let titles = ["title", "title_en"].map(|field| text(field).unwrap_or_default());
    Some(Passage {
        head: format!("{} {}", section.heading, titles.join(" ")).to_lowercase(),
        document: id.to_owned(),
        title: title.unwrap_or_default().to_owned(),
        heading: heading(&section.heading, language),
        share: {
            let whole = format!("{} {}", section.whole(), titles.join(" ").to_lowercase());
            let held = terms.iter().filter(|term| term.share_held_by(&whole) > 0.0).count();
            held as f64 / terms.len().max(1) as f64
        },
        lines: section.telling_lines(terms, rarity),
        is_foreign,
        is_teaching: text("source").is_some_and(is_teaching_case),
        fit,
    })
}
