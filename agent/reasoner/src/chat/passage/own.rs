//! Finds the statements of the plant's own documents about a machine: torques, lubricants, limits
//! of vibration, isolation.
//!
//! A general table may hold the torque of another bolt, or the grease of a machine that has none.
//! So the lines that name the machine come first, with their document.

use pdm_shared::text::Language;
use serde_json::{Map, Value, json};

use super::super::desk::CoreFields;
use super::super::intent::{PLAIN_WORDS, QUESTION_WORDS, Topic, has};
use super::super::{StepCall, sites};
use super::section::{Section, sections};
use super::{MANUALS, documents_of, heading, manual, text_of};
use crate::toolbox::{self, Toolbox};
use machine::{Machine, machines};

mod machine;

/// Documents of the plant that are read for a question. Chosen: a sheet for the site and one for the machine.
const DOCUMENTS: usize = 3;
/// Machines of a question.
const MACHINES: usize = 4;
/// Sections of an answer, each of whose lines name the machine.
const SECTIONS: usize = 12;

/// The kinds of statements that a document makes about a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat) enum Stated {
    /// How tight a bolt is.
    Torque,
    /// Grease or oil, how much and how often.
    Lubricant,
    /// Where vibration alarms or trips.
    Limit,
    /// How it is locked out.
    Isolation,
}

impl Stated {
    const ALL: [Self; 4] = [Self::Torque, Self::Lubricant, Self::Limit, Self::Isolation];

    /// Returns the kinds of statements that a question asks for.
    pub(in crate::chat) fn asked_by(clause: &str) -> Vec<Self> {
        let text = clause.to_lowercase();
        Self::ALL.into_iter().filter(|one| has(&text, one.words())).collect()
    }

    fn words(self) -> &'static [String] {
        match self {
            Self::Torque => &PLAIN_WORDS.own_torque,
            Self::Lubricant => &PLAIN_WORDS.own_lubricant,
            Self::Limit => &PLAIN_WORDS.own_limit,
            Self::Isolation => &PLAIN_WORDS.own_isolation,
        }
    }

    /// Whether a text of a document says it.
    fn is_said_in(self, text: &str) -> bool {
        let text = text.to_lowercase();
        let is_isolation = self == Self::Isolation;
        has(&text, self.words()) || is_isolation && has(&text, &PLAIN_WORDS.isolation_in_documents)
    }

    /// The topic of the general table that it stands in the place of.
    pub(in crate::chat) const fn topic(self) -> Option<Topic> {
        match self {
            Self::Torque => Some(Topic::Torque),
            Self::Lubricant => Some(Topic::Grease),
            Self::Limit | Self::Isolation => None,
        }
    }
}

/// Statements of the plant's documents about machines.
pub(in crate::chat) struct OwnWords {
    pub(in crate::chat) stated: Vec<Stated>,
    pub(in crate::chat) told: String,
    pub(in crate::chat) call: StepCall,
}

/// Returns the statements of the plant's own documents about the machines that a question asks
/// about. Where they state no lock-out, the general procedure for every machine is returned.
pub(in crate::chat) async fn of_machines(
    tools: &dyn Toolbox,
    (meant, fleet): (&[&CoreFields], &[CoreFields]),
    clause: &str,
    language: Language,
) -> Option<OwnWords> {
    let asked = Stated::asked_by(clause);
    if asked.is_empty() || has(&clause.to_lowercase(), &QUESTION_WORDS.act) {
        return None;
    }
    let (mut told, mut stated): (Vec<String>, Vec<Stated>) = (Vec::new(), Vec::new());
    for machine in machines(meant, fleet).iter().take(MACHINES) {
        for document in documents_about(tools, machine, clause).await {
            if is_of_another_site(&document, machine, fleet) {
                continue;
            }
            for one in &asked {
                let others = others_of_manual(&document, machine, fleet);
                let found = lines_of(&document, machine, *one, (others.as_deref(), language));
                if !found.is_empty() && !stated.contains(one) {
                    stated.push(*one);
                }
                told.extend(
                    found.into_iter().filter(|text| !told.contains(text)).collect::<Vec<_>>(),
                );
            }
        }
    }
    let is_cut = told.len() > SECTIONS;
    told.truncate(SECTIONS);
    told.extend(is_cut.then(|| cut_off(language).to_owned()));
    if asked.contains(&Stated::Isolation)
        && !stated.contains(&Stated::Isolation)
        && !meant.is_empty()
    {
        const PROCEDURE: &str = "LOTO 잠금 표지 작업 전 안전 (lock-out and tag-out before work)";
        told.extend(manual(tools, PROCEDURE, language).await);
        stated.push(Stated::Isolation);
    }
    let call = call_for(clause);
    (!told.is_empty()).then(|| OwnWords { stated, told: told.join("\n"), call })
}

/// Returns the statements of the plant's own documents on some machines, where a question asks for
/// such a value and names no machine: a general table would answer for a machine that has its own
/// value.
pub(in crate::chat) async fn of_some_machine(
    tools: &dyn Toolbox,
    fleet: &[CoreFields],
    clause: &str,
    language: Language,
) -> Option<String> {
    let asked = Stated::asked_by(clause);
    if asked.is_empty() || has(&clause.to_lowercase(), &QUESTION_WORDS.act) {
        return None;
    }
    let all: Vec<&CoreFields> = fleet.iter().collect();
    let machines = machines(&all, fleet);
    let mut told: Vec<String> = Vec::new();
    for document in own_documents(tools, clause).await {
        for (machine, one) in
            machines.iter().flat_map(|machine| asked.iter().map(move |one| (machine, *one)))
        {
            if is_of_another_site(&document, machine, fleet) {
                continue;
            }
            let others = others_of_manual(&document, machine, fleet);
            let found = lines_of(&document, machine, one, (others.as_deref(), language));
            told.extend(found.into_iter().filter(|text| !told.contains(text)).collect::<Vec<_>>());
        }
    }
    if told.is_empty() {
        return None;
    }
    let more = told.len() > SECTIONS;
    told.truncate(SECTIONS);
    let head = match language {
        Language::Ko => "현장 문서가 설비마다 따로 정해 두었습니다. 어느 설비인지 확인하십시오:",
        Language::En => {
            "The plant's own documents state it for each machine. Make sure which one you mean:"
        }
    };
    let rest = more.then(|| cut_off(language).to_owned());
    Some(std::iter::once(head.to_owned()).chain(told).chain(rest).collect::<Vec<_>>().join("\n"))
}

/// The search as a step tells it.
pub(in crate::chat) fn call_for(clause: &str) -> StepCall {
    StepCall { name: MANUALS.to_owned(), arguments: json!({ "query": clause }) }
}

/// Says that the documents state more than the answer tells.
const fn cut_off(language: Language) -> &'static str {
    match language {
        Language::Ko => "문서에 더 있습니다. 설비와 부위를 지정해 다시 물어 주십시오.",
        Language::En => "The documents state more. Ask again for one machine and one part of it.",
    }
}

/// The plant's own documents that a search finds with the question, and with the machine's names alone: words of the
/// question may be in another language than the document.
async fn documents_about(tools: &dyn Toolbox, machine: &Machine, clause: &str) -> Vec<Vec<Value>> {
    let names = format!("{} {}", machine.id, machine.names.join(" "));
    let mut documents = own_documents(tools, &format!("{names} {clause}")).await;
    for one in own_documents(tools, &names).await {
        if !documents.contains(&one) {
            documents.push(one);
        }
    }
    documents
}

/// The sections of the plant's own documents that a search finds, each with its document.
async fn own_documents(tools: &dyn Toolbox, query: &str) -> Vec<Vec<Value>> {
    let found = documents_of(tools, MANUALS, query).await.unwrap_or_default();
    let own = found.iter().filter(|one| one.get("own").and_then(Value::as_bool) == Some(true));
    let mut ids: Vec<&str> = Vec::new();
    for id in own.filter_map(|one| one.get("id")?.as_str()?.split('#').next()) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let mut documents = Vec::new();
    for id in ids.into_iter().take(DOCUMENTS) {
        let whole = Map::from_iter([("document".to_owned(), Value::from(id))]);
        let read = toolbox::traced(tools, "extraction", "read_document_section", whole).await;
        documents.extend(read.data.get("documents").and_then(Value::as_array).cloned());
    }
    documents
}

/// Whether the title of a document names sites, and not that of the machine.
fn is_of_another_site(document: &[Value], machine: &Machine, fleet: &[CoreFields]) -> bool {
    let Some(first) = document.first() else { return false };
    let text = |field: &str| first.get(field).and_then(Value::as_str).unwrap_or_default();
    let titles = format!("{} {}", text("title"), text("title_en"));
    let named = sites::named_in(&titles, fleet).known;
    !named.is_empty() && !named.contains(&machine.site)
}

/// The lines that state it of the machine, each section's under its heading.
fn lines_of(
    document: &[Value],
    machine: &Machine,
    stated: Stated,
    (others, language): (Option<&[Machine]>, Language),
) -> Vec<String> {
    let mut told = Vec::new();
    for one in document {
        let Some((text, _)) = text_of(one, language) else { continue };
        let id = one.get("id").and_then(Value::as_str).unwrap_or_default();
        let id = id.split('#').next().unwrap_or_default();
        for section in sections(text) {
            let mut lines = stated_in(&section, machine, stated);
            if let Some(others) = others.filter(|_| lines.is_empty()) {
                lines = stated_alone(&section, stated, others);
            }
            if !lines.is_empty() {
                let head = heading(&section.heading, language);
                let head = if head.is_empty() { String::new() } else { format!(" §{head}") };
                told.push(format!("[{id}]{head}\n{}", lines.join("\n")));
            }
        }
    }
    told
}

/// The lines of a section that name the machine; all of them where its heading does.
fn stated_in(section: &Section, machine: &Machine, stated: Stated) -> Vec<String> {
    let head = section.heading.to_lowercase();
    let says = |text: &str| stated.is_said_in(text);
    if machine.is_named_in(&head) {
        let is_it = says(&head) || section.lines.iter().any(|line| says(line));
        return if is_it { section.lines.clone() } else { Vec::new() };
    }
    let is_in_head = says(&head);
    let lines = section
        .lines
        .iter()
        .filter(|line| machine.is_named_in(&line.to_lowercase()) && (is_in_head || says(line)));
    lines.cloned().collect()
}

/// Returns lines of a section of a machine's manual that names the machine in its title alone: all
/// lines of a section that is about what is asked, else the lines that say it. Lines that name
/// another machine are left out.
fn stated_alone(section: &Section, stated: Stated, others: &[Machine]) -> Vec<String> {
    let says = |text: &str| stated.is_said_in(text);
    let is_others = |text: &str| others.iter().any(|one| one.is_named_in(&text.to_lowercase()));
    if is_others(&section.heading) {
        return Vec::new();
    }
    let is_in_head = says(&section.heading);
    let lines = section.lines.iter().filter(|line| !is_others(line) && (is_in_head || says(line)));
    lines.cloned().collect()
}

/// The other machines of the plant, where a document is the manual of this one: its title names it. None where it does not.
fn others_of_manual(
    document: &[Value],
    machine: &Machine,
    fleet: &[CoreFields],
) -> Option<Vec<Machine>> {
    let first = document.first()?;
    let text = |field: &str| first.get(field).and_then(Value::as_str).unwrap_or_default();
    let title = format!("{} {}", text("title"), text("title_en")).to_lowercase();
    let all: Vec<&CoreFields> = fleet.iter().collect();
    let is_other = |one: &Machine| one.id != machine.id || one.site != machine.site;
    machine
        .is_named_in(&title)
        .then(|| machines(&all, fleet).into_iter().filter(is_other).collect())
}

/// Returns the lines of a manual of one of the machines that have most of the clause's words, where
/// a question about it asks for no value.
pub(in crate::chat) async fn of_manual(
    tools: &dyn Toolbox,
    (meant, fleet): (&[&CoreFields], &[CoreFields]),
    clause: &str,
    language: Language,
) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    for machine in machines(meant, fleet).iter().take(MACHINES) {
        let stems = stems(clause, machine);
        for document in documents_about(tools, machine, clause).await {
            let Some(others) = others_of_manual(&document, machine, fleet) else { continue };
            told.extend(lines_with(&document, &stems, &others, language));
        }
    }
    told.dedup();
    told.truncate(SECTIONS);
    (!told.is_empty()).then(|| told.join("\n"))
}

/// Least letters of an English word that says something.
const LEAST_LETTERS: usize = 4;
/// Words of questions that every manual has.
const COMMON: [&str; 34] = [
    "what", "when", "where", "which", "does", "have", "this", "that", "with", "from", "should",
    "could", "would", "bearing", "machine", "there", "after", "before", "need", "must", "바로",
    "지금", "어떻", "되지", "돼요", "있어", "없어", "해야", "하면", "베어", "작업", "우리", "이거",
    "그거",
];

/// The begins of the words of a clause that are not of the machine's name.
fn stems(clause: &str, machine: &Machine) -> Vec<String> {
    let own = format!("{} {}", machine.id, machine.names.join(" "));
    let lower = clause.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let stems = words.filter_map(|word| {
        let is_english = word.is_ascii();
        let stem: String = if is_english {
            word.chars().take(5).collect()
        } else {
            word.chars().take(2).collect()
        };
        let least = if is_english { LEAST_LETTERS } else { 2 };
        let says = stem.chars().count() >= least
            && !stem.chars().all(|c| c.is_ascii_digit())
            && !own.contains(&stem)
            && !COMMON.iter().any(|common| stem.starts_with(common));
        says.then_some(stem)
    });
    let mut all: Vec<String> = stems.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the lines of a document that have most of these stems, under their headings. Lines that
/// name another machine are left out.
fn lines_with(
    document: &[Value],
    stems: &[String],
    others: &[Machine],
    language: Language,
) -> Vec<String> {
    let mut found: Vec<(usize, String, String)> = Vec::new();
    for one in document {
        let Some((text, _)) = text_of(one, language) else { continue };
        let id = one.get("id").and_then(Value::as_str).unwrap_or_default();
        let id = id.split('#').next().unwrap_or_default();
        for section in sections(text) {
            let head = heading(&section.heading, language);
            let is_others =
                |text: &str| others.iter().any(|one| one.is_named_in(&text.to_lowercase()));
            if is_others(&section.heading) {
                continue;
            }
            for line in section.lines.iter().filter(|line| !is_others(line)) {
                let lower = format!("{} {line}", section.heading).to_lowercase();
                let count = stems.iter().filter(|stem| lower.contains(stem.as_str())).count();
                found.push((count, format!("[{id}] §{head}"), line.clone()));
            }
        }
    }
    let most = found.iter().map(|(count, _, _)| *count).max().unwrap_or_default();
    if most == 0 {
        return Vec::new();
    }
    let mut told: Vec<String> = Vec::new();
    for (_, head, line) in found.into_iter().filter(|(count, _, _)| *count == most) {
        if !told.contains(&head) {
            told.push(head);
        }
        told.push(line);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = "# Line sheet\n\n## 1 Lubricants\n- C-7 air compressor: oil, ISO VG 68. No grease nipples.\n\
        - F-2 roof fan: grease LGHP 2, 9 g a shot\n\n## 2 Torques\n- F-2 roof fan bolts M20: 380 N·m\n\n\
        ## 3 Isolation of C-7\n- Open breaker 4, lock and tag.\n";

    fn machine(id: &str, name: &str, other: &str) -> Machine {
        let names =
            |name: &str| vec![name.to_owned()].into_iter().filter(|n| !n.is_empty()).collect();
        Machine {
            site: "s-1".to_owned(),
            id: id.to_owned(),
            names: names(name),
            others: names(other),
            kinds: Vec::new(),
            siblings: Vec::new(),
        }
    }

    #[test]
    fn lines_of_a_machine_are_told_and_no_others() {
        let document = [json!({ "id": "LS-1#2", "text": SHEET })];
        let lines =
            |machine: &Machine, stated| lines_of(&document, machine, stated, (None, Language::En));
        let fan = machine("f-2", "roof fan", "");
        assert_eq!(
            lines(&fan, Stated::Torque),
            ["[LS-1] §2 Torques\n- F-2 roof fan bolts M20: 380 N·m"]
        );
        assert_eq!(lines(&fan, Stated::Lubricant).len(), 1);
        assert!(lines(&fan, Stated::Isolation).is_empty());
        let compressor = machine("c-7", "air compressor", "gas compressor");
        assert!(lines(&compressor, Stated::Lubricant)[0].contains("No grease nipples"));
        assert!(lines(&compressor, Stated::Isolation)[0].contains("Open breaker 4"));
        assert!(lines(&compressor, Stated::Torque).is_empty());
        let elsewhere = machine("c-7", "gas compressor", "air compressor");
        assert!(lines(&elsewhere, Stated::Lubricant).is_empty(), "of another site");
        assert!(lines(&machine("c-70", "", ""), Stated::Lubricant).is_empty(), "another machine");
    }

    /// A manual of two machines, which its sections do not name: no line of the other one is told.
    #[test]
    fn a_manual_that_names_its_machine_in_the_title_answers_for_it() {
        let manual = "# M-7 Belt B-3 and crusher Q-1\n\n## 1 Torques\n- Cap bolts M24: 520 N·m\n\
            - Q-1 liner bolts M36: 1900 N·m\n\n## 2 Stopping\n- Open no cover before 25 minutes have passed.\n";
        let document =
            [json!({ "id": "M-7#1", "title": "Belt B-3 and crusher Q-1", "text": manual })];
        let belt = machine("b-3", "belt", "");
        let others = [machine("q-1", "crusher", "")];
        let lines = lines_of(&document, &belt, Stated::Torque, (Some(&others), Language::En));
        assert_eq!(lines, ["[M-7] §1 Torques\n- Cap bolts M24: 520 N·m"]);
        let words = stems("may I open the cover of the belt right away?", &belt);
        let told = lines_with(&document, &words, &others, Language::En).join("\n");
        assert!(told.contains("25 minutes") && !told.contains("1900"), "{told}");
    }

    #[test]
    fn what_is_asked_of_a_machine_is_read() {
        for (question, stated) in [
            ("bolt torque for the roof fan", Stated::Torque),
            ("하우징 볼트 몇 뉴턴으로 조여", Stated::Torque),
            ("구리스 뭐 넣고 얼마 주기로?", Stated::Lubricant),
            ("which oil goes into the gearbox", Stated::Lubricant),
            ("what vibration trips it?", Stated::Limit),
            ("트립값 몇이야", Stated::Limit),
            ("walk me through isolating C-7 before I open it", Stated::Isolation),
        ] {
            assert!(Stated::asked_by(question).contains(&stated), "{question}");
        }
        for question in
            ["how is C-7?", "언제부터 이상이야", "who is on duty", "what is the remaining life"]
        {
            assert_eq!(Stated::asked_by(question), [], "{question}");
        }
    }
}
