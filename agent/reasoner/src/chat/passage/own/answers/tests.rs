//! Tests of what the plant's own documents answer.

use serde_json::json;

use super::super::units::sections_of;
use super::*;

fn sections() -> Vec<PlantSection> {
    let one = |heading: &str, text: &str| {
        let (title, text) = (format!("Yard rules §{heading}"), format!("{heading}\n{text}"));
        json!({ "id": "ru-1", "title": title, "text": text })
    };
    sections_of(
        &[
            one("1 Cellar", "Nobody goes in alone.\n\nThe door stays propped open."),
            one(
                "2 Tool crib",
                "- Drills come back on Fridays.\n- A crane hook is lent with a signature of \
                 the yard master.",
            ),
            one("3 Filling", "1. Close valve 4.\n2. Vent the drum.\n3. Open the lid."),
        ],
        Language::En,
    )
}

fn asked(question: &str) -> Option<OwnAnswer> {
    let asked =
        AskedWords { terms: telling(question), wants_figure: asks_figure(question), least: PARTLY };
    said(&sections(), &asked, Wanted::Any, Language::En)
}

#[test]
fn a_line_that_has_the_words_of_a_question_answers_it() {
    let Some(OwnAnswer::Said(told)) = asked("who signs for a crane hook?") else {
        panic!("{:?}", asked("who signs for a crane hook?"));
    };
    assert!(told.starts_with("[ru-1] §2 Tool crib\n") && told.contains("yard master"), "{told}");
    assert!(!told.contains("Drills"), "{told}");
}

#[test]
fn a_step_is_told_with_all_steps_and_a_paragraph_with_those_behind_it() {
    let found = asked("may the lid of the drum be opened");
    let Some(OwnAnswer::Said(told)) = &found else { panic!("{found:?}") };
    assert!(told.contains("Close valve 4") && told.contains("Open the lid"), "{told}");
    let found = asked("is the door of the cellar propped");
    let Some(OwnAnswer::Said(told)) = &found else { panic!("{found:?}") };
    assert!(told.contains("propped open"), "{told}");
}

/// A procedure that is too long to be told whole does not look as if it were.
#[test]
fn steps_that_are_left_out_are_marked_on_both_sides() {
    let long = format!(" {}", "and wait for the lamp ".repeat(20));
    let steps: Vec<String> = (1..9).map(|n| format!("{n}. Turn valve {n}{long}")).collect();
    let text = format!("1 Draining\n{}", steps.join("\n"));
    let one = json!({ "id": "ru-2", "title": "Rules §1 Draining", "text": text });
    let section = sections_of(&[one], Language::En).remove(0);
    let told = text_of_pieces(&section, &[&section.units[3]]);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!((lines[1], lines.len(), lines[3]), ("…", 4, "…"), "{told}");
    assert!(lines[2].starts_with("4. Turn valve 4"), "{told}");
}

#[test]
fn what_no_line_says_is_said_to_lack() {
    assert_eq!(asked("thickness of the impeller"), None);
    let Some(OwnAnswer::Partly(told)) = asked("what does the crane hook weigh in newton") else {
        panic!("{:?}", asked("what does the crane hook weigh in newton"));
    };
    assert!(told.contains("newton"), "{told}");
}
