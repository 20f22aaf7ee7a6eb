//! A plant's document as what can be told alone: points of a list, rows of a table with their
//! heads, paragraphs.

use serde_json::Value;

use super::super::text_of;
use super::machine::Machine;
use pdm_shared::text::Language;

/// What a piece of a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitKind {
    /// A point of a list, which stands alone.
    Point,
    /// A step of a numbered list.
    Step,
    /// A row of a table, with the heads of its columns.
    Row,
    /// A paragraph, which the next one may go on with.
    Paragraph,
}

/// A piece of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) kind: UnitKind,
    pub(super) text: String,
}

/// A section of a document of the plant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlantSection {
    /// The document's id.
    pub(super) document: String,
    /// Its title in both languages, in lower case.
    pub(super) title: String,
    /// Number and heading; empty where the document has no sections.
    pub(super) heading: String,
    pub(super) units: Vec<Unit>,
}

/// The sections of a document as `read_document_section` gives them; none where it has no text.
pub(super) fn sections_of(document: &[Value], language: Language) -> Vec<PlantSection> {
    document.iter().filter_map(|one| section_of(one, language)).collect()
}

fn section_of(one: &Value, language: Language) -> Option<PlantSection> {
    let (text, _) = text_of(one, language)?;
    let field = |name: &str| one.get(name).and_then(Value::as_str).unwrap_or_default();
    let id = field("id").split('#').next().unwrap_or_default();
    let (title, heading) = field("title").rsplit_once('§').unwrap_or((field("title"), ""));
    let heading = heading.trim();
    let title_en = field("title_en").rsplit_once('§').map_or(field("title_en"), |(title, _)| title);
    let mut lines: Vec<&str> = text.lines().collect();
    let plain = |line: &str| line.trim_start_matches('#').trim().to_owned();
    let is_head = lines.first().is_some_and(|first| {
        let first = plain(first);
        first == heading
            || first == title.trim()
            || first.starts_with(heading) && !heading.is_empty()
    });
    if is_head {
        lines.remove(0);
    }
    Some(PlantSection {
        document: id.to_owned(),
        title: format!("{title} {title_en}").to_lowercase(),
        heading: heading.to_owned(),
        units: units(&lines),
    })
}

/// The pieces of a section's lines.
fn units(lines: &[&str]) -> Vec<Unit> {
    let mut all: Vec<Unit> = Vec::new();
    let (mut heads, mut goes_on): (Option<Vec<String>>, bool) = (None, false);
    for line in lines {
        let text = line.trim();
        if text.is_empty() {
            goes_on = false;
            continue;
        }
        if let Some(cells) = cells_of(text) {
            goes_on = false;
            match &heads {
                None => heads = Some(cells),
                Some(_) if is_rule(&cells) => {}
                Some(heads) => all.push(Unit { kind: UnitKind::Row, text: row(heads, &cells) }),
            }
            continue;
        }
        heads = None;
        let kind = kind_of(text);
        match all.last_mut().filter(|_| goes_on && kind == UnitKind::Paragraph) {
            Some(last) => {
                last.text.push('\n');
                last.text.push_str(text);
            }
            None => all.push(Unit { kind, text: text.to_owned() }),
        }
        goes_on = true;
    }
    all
}

/// The cells of a row of a table; none where a line is none.
fn cells_of(line: &str) -> Option<Vec<String>> {
    let inner = line.strip_prefix('|')?.trim_end().trim_end_matches('|');
    Some(inner.split('|').map(|cell| cell.trim().to_owned()).collect())
}

fn is_rule(cells: &[String]) -> bool {
    cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':' | ' ')))
}

/// A row with the head of each cell.
fn row(heads: &[String], cells: &[String]) -> String {
    let told =
        cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()).map(|(at, cell)| match heads
            .get(at)
            .filter(|head| !head.is_empty())
        {
            Some(head) => format!("{head}: {cell}"),
            None => cell.clone(),
        });
    format!("- {}", told.collect::<Vec<_>>().join("; "))
}

fn kind_of(text: &str) -> UnitKind {
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match () {
        () if text.starts_with(['-', '*', '•', '·']) && !text.starts_with("**") => {
            UnitKind::Point
        }
        () if number.len() < text.len() && number.starts_with([')', '.']) => UnitKind::Step,
        () => UnitKind::Paragraph,
    }
}

impl Unit {
    /// The unit without the cells of a row that are of another machine.
    pub(super) fn without_columns_of(&self, others: &[Machine]) -> Self {
        if self.kind != UnitKind::Row {
            return self.clone();
        }
        let is_others = |head: &str| {
            let head = head.to_lowercase();
            others.iter().any(|one| one.is_named_in(&head))
        };
        let cells = self.text.trim_start_matches("- ").split("; ");
        let kept =
            cells.filter(|cell| !cell.split_once(": ").is_some_and(|(head, _)| is_others(head)));
        Self { kind: self.kind, text: format!("- {}", kept.collect::<Vec<_>>().join("; ")) }
    }
}

impl PlantSection {
    /// Title, heading and text in lower case.
    pub(super) fn whole(&self) -> String {
        let units: Vec<&str> = self.units.iter().map(|unit| unit.text.as_str()).collect();
        format!("{} {} {}", self.title, self.heading, units.join(" ")).to_lowercase()
    }

    /// The machines of these that it names.
    pub(super) fn machines_named(&self, all: &[Machine]) -> Vec<Machine> {
        let whole = self.whole();
        all.iter().filter(|one| one.is_named_in(&whole)).cloned().collect()
    }

    /// `[id] §heading`
    pub(super) fn head(&self) -> String {
        if self.heading.is_empty() {
            format!("[{}]", self.document)
        } else {
            format!("[{}] §{}", self.document, self.heading)
        }
    }

    /// Its units of one machine: those that name it, and those that name none where title or
    /// heading is of it. Without `general` none of a document that names no machine at all.
    pub(super) fn of_machine(
        &self,
        machine: &Machine,
        others: &[Machine],
        is_general: bool,
    ) -> Vec<Unit> {
        let heading = self.heading.to_lowercase();
        // where title or heading name the machine, the kind of another one (`fan`) is a part of it
        let names_it = machine.is_named_itself(&self.title) || machine.is_named_itself(&heading);
        let is_other = |one: &Machine, text: &str| {
            if names_it { one.is_named_itself(text) } else { one.is_named_in(text) }
        };
        let is_others = |text: &str| others.iter().any(|one| is_other(one, text));
        let (title_is_own, heading_is_own) =
            (machine.is_meant_by(&self.title, others), machine.is_meant_by(&heading, others));
        if is_others(&heading) && !heading_is_own {
            return Vec::new();
        }
        let is_of_none = !is_others(&self.title) && !is_others(&heading);
        let units = self.units.iter().map(|unit| unit.without_columns_of(others));
        units
            .filter(|unit| {
                let lower = unit.text.to_lowercase();
                machine.is_meant_by(&lower, others)
                    || !is_others(&lower)
                        && (title_is_own || heading_is_own || is_general && is_of_none)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn section(text: &str) -> PlantSection {
        let one = json!({ "id": "d-1", "title": "Fans §2 Bolts", "title_en": "Fans §2 Bolts", "text": text });
        sections_of(&[one], Language::En).remove(0)
    }

    #[test]
    fn a_row_is_told_with_the_heads_of_its_cells() {
        let section = section(
            "2 Bolts\n| Part | Bolt | F-1 | F-2 |\n|---|:--|---|---|\n| cap | M30 | 1050 N·m | 820 \
             N·m |\n\nAgain after two days.",
        );
        assert_eq!(section.head(), "[d-1] §2 Bolts");
        assert_eq!(section.units[0].text, "- Part: cap; Bolt: M30; F-1: 1050 N·m; F-2: 820 N·m");
        let other = Machine::named("f-1");
        let kept = section.units[0].without_columns_of(&[other]);
        assert_eq!(kept.text, "- Part: cap; Bolt: M30; F-2: 820 N·m");
        assert_eq!(section.units[1].kind, UnitKind::Paragraph);
    }

    #[test]
    fn a_question_with_its_answer_is_one_paragraph_and_points_stand_alone() {
        let section = section(
            "2 Bolts\n**May it be opened?**\nNo, wait 10 minutes.\n\n- one\n  goes on\n- two\n1. \
             first\n2) second",
        );
        let kinds: Vec<UnitKind> = section.units.iter().map(|unit| unit.kind).collect();
        assert_eq!(
            kinds,
            [UnitKind::Paragraph, UnitKind::Point, UnitKind::Point, UnitKind::Step, UnitKind::Step]
        );
        assert!(section.units[0].text.ends_with("10 minutes."));
        assert!(section.units[1].text.ends_with("goes on"));
    }
}
