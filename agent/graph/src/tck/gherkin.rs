//! Reads the feature files of the suite: scenarios, outlines with their examples, tables.

use std::path::Path;

/// One scenario; an outline becomes one for each row of its examples.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) named_graph: Option<String>,
    pub(super) setup: Vec<String>,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) query: String,
    pub(super) wanted: Wanted,
}

#[derive(Debug, Clone)]
pub(super) enum Wanted {
    Nothing,
    Rows { header: Vec<String>, rows: Vec<Vec<String>>, ordered: bool, lists: bool },
    Error { kind: String, code: String },
}

/// A step with the lines below it.
#[derive(Debug, Clone, Default)]
struct GherkinStep {
    text: String,
    document: Option<String>,
    table: Vec<Vec<String>>,
}

pub(super) fn read_scenarios(file: &Path) -> Vec<Scenario> {
    let text = std::fs::read_to_string(file).expect("a feature");
    let stem = file.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
    let mut scenarios = Vec::new();
    let mut lines = text.lines().peekable();
    let (mut title, mut steps, mut examples) =
        (String::new(), Vec::<GherkinStep>::new(), Vec::new());
    let mut in_examples = false;
    let (mut background, mut in_background) = (Vec::<GherkinStep>::new(), false);
    let mut flush = |title: &str, steps: &[GherkinStep], examples: &[Vec<String>]| {
        if steps.is_empty() {
            return;
        }
        let name = format!("{stem} {title}");
        match examples.split_first() {
            None => scenarios.push(scenario(&name, steps)),
            Some((header, rows)) => {
                for row in rows {
                    scenarios.push(scenario(&name, &filled(steps, header, row)));
                }
            }
        }
    };
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if let Some(next) = trimmed.strip_prefix("Scenario").filter(|rest| rest.contains(':')) {
            if in_background {
                (background, in_background) = (std::mem::take(&mut steps), false);
            }
            flush(&title, &steps, &examples);
            title = next.trim_start_matches(" Outline").trim_start_matches(':').trim().to_owned();
            (steps, examples, in_examples) = (background.clone(), Vec::new(), false);
        } else if trimmed.starts_with("Background:") {
            in_background = true;
        } else if trimmed.starts_with("Examples:") {
            in_examples = true;
        } else if trimmed.starts_with("\"\"\"") {
            let document: Vec<_> = lines.by_ref().take_while(|l| l.trim() != "\"\"\"").collect();
            if let Some(step) = steps.last_mut() {
                step.document = Some(document.join("\n"));
            }
        } else if trimmed.starts_with('|') {
            let row = cells(trimmed);
            if in_examples {
                examples.push(row);
            } else if let Some(step) = steps.last_mut() {
                step.table.push(row);
            }
        } else if ["Given ", "And ", "When ", "Then ", "But "]
            .iter()
            .any(|w| trimmed.starts_with(w))
        {
            let text = trimmed.split_once(' ').expect("a keyword").1.to_owned();
            steps.push(GherkinStep { text, ..GherkinStep::default() });
        }
    }
    flush(&title, &steps, &examples);
    scenarios
}

fn cells(line: &str) -> Vec<String> {
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut characters = line.trim().trim_start_matches('|').chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' if matches!(characters.peek(), Some('|')) => cell.extend(characters.next()),
            '\\' if matches!(characters.peek(), Some('\\')) => cell.extend(characters.next()),
            '|' => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            other => cell.push(other),
        }
    }
    cells
}

fn filled(steps: &[GherkinStep], header: &[String], row: &[String]) -> Vec<GherkinStep> {
    let fill = |text: &str| {
        let pairs = header.iter().zip(row);
        pairs.fold(text.to_owned(), |text, (name, value)| text.replace(&format!("<{name}>"), value))
    };
    let fill_step = |step: &GherkinStep| GherkinStep {
        text: fill(&step.text),
        document: step.document.as_deref().map(fill),
        table: step.table.iter().map(|row| row.iter().map(|cell| fill(cell)).collect()).collect(),
    };
    steps.iter().map(fill_step).collect()
}

fn scenario(name: &str, steps: &[GherkinStep]) -> Scenario {
    let mut scenario = Scenario {
        name: name.to_owned(),
        named_graph: None,
        setup: Vec::new(),
        parameters: Vec::new(),
        query: String::new(),
        wanted: Wanted::Nothing,
    };
    for step in steps {
        let document = || step.document.clone().unwrap_or_default();
        let text = step.text.as_str();
        if let Some(graph) = text.strip_prefix("the ").and_then(|t| t.strip_suffix(" graph")) {
            scenario.named_graph = Some(graph.to_owned());
        } else if text.starts_with("having executed") {
            scenario.setup.push(document());
        } else if text.starts_with("parameters are") {
            let rows = step.table.iter();
            scenario.parameters = rows.map(|row| (row[0].clone(), row[1].clone())).collect();
        } else if text.starts_with("executing query") {
            scenario.query = document();
        } else if text.starts_with("the result should be empty") {
            scenario.wanted =
                Wanted::Rows { header: Vec::new(), rows: Vec::new(), ordered: false, lists: false };
        } else if text.starts_with("the result should be") {
            let (header, rows) = step.table.split_first().expect("a header");
            scenario.wanted = Wanted::Rows {
                header: header.clone(),
                rows: rows.to_vec(),
                ordered: text.contains("in order"),
                lists: text.contains("ignoring element order"),
            };
        } else if text.contains("should be raised") {
            let kind = text.split_whitespace().nth(1).unwrap_or_default().to_owned();
            let code = text.rsplit(": ").next().unwrap_or_default().to_owned();
            scenario.wanted = Wanted::Error { kind, code };
        }
    }
    scenario
}
