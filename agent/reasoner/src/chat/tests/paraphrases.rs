//! Documents of three plants, asked in other words than theirs and in the other language
//! (`paraphrases/`): how many answers have what the documents say, and what is told where they say
//! nothing.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::*;

/// A plant with its documents.
#[derive(Debug, Clone)]
struct Plant {
    machines: Vec<Machine>,
    /// The sections of each document as `read_document_section` gives them.
    documents: Vec<(String, Vec<Value>)>,
}

#[derive(Debug, Clone, Deserialize)]
struct Machine {
    site: String,
    id: String,
    ko: String,
    en: String,
    #[serde(default)]
    risk: Option<String>,
}

#[derive(Debug, Deserialize)]
struct OtherWords {
    q: String,
    holds: String,
    #[serde(default)]
    last: bool,
}

#[derive(Debug, Deserialize)]
struct Questions {
    machine: Vec<Machine>,
    asked: Vec<OtherWords>,
}

/// What an answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worth {
    /// It has what the documents say, told as an answer.
    Right,
    /// It has it among what comes nearest.
    Near,
    /// It says that there is no answer, or asks back.
    Refused,
    /// It tells something else as the answer.
    Wrong,
}

#[async_trait]
impl Desk for Plant {
    async fn fleet(&self) -> Result<Vec<CoreFields>, String> {
        let of = |one: &Machine| {
            let risk = match one.risk.as_deref() {
                Some("critical") => RiskLevel::Critical,
                Some("warning") => RiskLevel::Warning,
                Some("watch") => RiskLevel::Watch,
                _ => RiskLevel::Normal,
            };
            CoreFields {
                key: BearingKey::parse(&one.site, &one.id, "DE").expect("names"),
                machine_name: Some(Text::new(one.ko.clone(), one.en.clone())),
                ..core("P-1", risk)
            }
        };
        let mut fleet: Vec<CoreFields> = self.machines.iter().map(of).collect();
        fleet.sort_by_key(|one| std::cmp::Reverse(one.risk));
        Ok(fleet)
    }

    async fn focus(&self, key: &BearingKey) -> Result<Option<Focus>, String> {
        let core = self.fleet().await?.into_iter().find(|core| core.key == *key);
        let like = BearingKey::parse("ulsan-1", "P-101", "DE").expect("names");
        let focus = Records.focus(&like).await?;
        Ok(core.zip(focus).map(|(core, focus)| Focus { core, ..focus }))
    }
}

#[async_trait]
impl Toolbox for Plant {
    fn tools(&self) -> Vec<ToolDefinition> {
        ["search_equipment_manual", "read_document_section"]
            .map(|name| ToolDefinition {
                name: name.to_owned(),
                description: "reads".to_owned(),
                parameters: json!({ "type": "object" }),
            })
            .into()
    }

    async fn call(&self, _id: &str, name: &str, arguments: Map<String, Value>) -> ToolAnswer {
        let asked = |field: &str| arguments.get(field).and_then(Value::as_str).unwrap_or_default();
        let ids = self.documents.iter().map(|(id, _)| json!({ "id": format!("{id}#1") }));
        let documents: Vec<Value> = match name {
            "search_equipment_manual" if asked("whose") == "plant" => ids.collect(),
            "read_document_section" => {
                let of = |(id, _): &&(String, Vec<Value>)| id == asked("document");
                self.documents.iter().find(of).map(|(_, all)| all.clone()).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let data = json!({ "documents": documents });
        ToolAnswer { text: data.to_string(), data, is_error: false }
    }
}

/// The sections of a document of Markdown.
fn sections(id: &str, text: &str) -> Vec<Value> {
    let (mut title, mut heading, mut body) = (id.to_owned(), String::new(), String::new());
    let mut all: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("## ") {
            all.push((heading, body));
            (heading, body) = (head.to_owned(), String::new());
        } else if let Some(head) = line.strip_prefix("# ") {
            title = head.to_owned();
        } else {
            body.push_str(line);
            body.push('\n');
        }
    }
    all.push((heading, body));
    all.retain(|(_, body)| !body.trim().is_empty());
    let of = |(at, (heading, body)): (usize, &(String, String))| {
        let title = if heading.is_empty() { title.clone() } else { format!("{title} §{heading}") };
        let text = format!("{heading}\n{body}");
        json!({ "id": format!("{id}#{at}"), "title": title, "text": text })
    };
    all.iter().enumerate().map(of).collect()
}

fn plant(folder: &Path) -> (Plant, Vec<OtherWords>) {
    let read = |path: &Path| std::fs::read_to_string(path).expect("a file");
    let questions: Questions =
        toml::from_str(&read(&folder.join("questions.toml"))).expect("questions");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|one| one.expect("a file").path())
        .collect();
    files.sort();
    files.retain(|path| path.extension().is_none_or(|one| one != "toml"));
    let documents = files.iter().map(|path| {
        let id = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let all = sections(&id, &read(path));
        (id, all)
    });
    (Plant { machines: questions.machine, documents: documents.collect() }, questions.asked)
}

async fn answer(plant: &Plant, message: &str) -> String {
    let tools = DeskTools::new(Arc::new(plant.clone()), Arc::new(plant.clone()));
    let (redactor, programs) = (Redactor::default(), ProgramHost::own_program());
    let chat = Chat {
        desk: plant,
        tools: &tools,
        redactor: &redactor,
        answer_tokens: 500,
        programs: &programs,
    };
    chat.ask(&question(message), None, &Steps::default()).await.answer
}

/// Words of an answer that does not say that it is one.
const DOUBTS: [&str; 15] = [
    "Not answered",
    "답하지 못한",
    "changes nothing",
    "가장 가까운",
    "comes nearest",
    "no figure",
    "수치는 적혀",
    "찾지 못했",
    "I found no",
    "not in my records",
    "기록에 없",
    "Which bearing do you mean",
    "어느 베어링을",
    "not measured",
    "측정하지 않",
];

fn worth(told: &str, holds: &str) -> Worth {
    let is_doubted = DOUBTS.iter().any(|one| told.contains(one));
    match (!holds.is_empty() && told.contains(holds), is_doubted) {
        (true, false) => Worth::Right,
        (true, true) => Worth::Near,
        (false, true) => Worth::Refused,
        (false, false) => Worth::Wrong,
    }
}

/// Answers of each worth: to questions that a document answers, and to those that none does.
#[derive(Debug, Default)]
struct Counts {
    answered: [usize; 4],
    nowhere: [usize; 4],
}

async fn counts(is_last: bool) -> Counts {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/chat/tests/paraphrases");
    let mut counts = Counts::default();
    for name in ["silo", "ferry", "fab"] {
        let (plant, asked) = plant(&own.join(name));
        for one in asked.iter().filter(|one| one.last == is_last) {
            let told = answer(&plant, &one.q).await;
            let worth = worth(&told, &one.holds);
            let row = if one.holds.is_empty() { &mut counts.nowhere } else { &mut counts.answered };
            row[worth as usize] += 1;
            if worth != Worth::Right {
                println!("{name}: {worth:?}: {} ({})\n{told}\n", one.q, one.holds);
            }
        }
    }
    println!("{counts:?} (right, near, refused, wrong)");
    counts
}

#[tokio::test]
async fn documents_answer_questions_in_other_words_and_in_the_other_language() {
    let Counts { answered: [right, near, _, wrong], nowhere } = counts(false).await;
    assert!(
        right >= 27 && right + near >= 33 && wrong <= 4,
        "{right} right, {near} near, {wrong} wrong"
    );
    assert_eq!(nowhere[Worth::Wrong as usize], 0, "an answer where no document has one");
}

/// Questions that were asked once, when the words and shares had been chosen by the others.
#[tokio::test]
async fn questions_that_chose_nothing_are_answered_as_well() {
    let Counts { answered: [right, near, _, wrong], .. } = counts(true).await;
    assert!(right >= 14 && wrong <= 3, "{right} right, {near} near, {wrong} wrong");
}
