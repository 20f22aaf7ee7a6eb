//! The system prompts of `config/prompts`, in Korean and English, each of the six parts that the
//! requirements name: role and five principles, domain knowledge, five thoughts, tool rules, risk
//! criteria, conversation rules.

use pdm_shared::text::Language;

/// The task of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// A second opinion on an event.
    Opinion,
    /// A question of the chat.
    Chat,
}

/// The system prompt of a task.
pub const fn system(task: Task, language: Language) -> &'static str {
    match (task, language) {
        (Task::Opinion, Language::Ko) => include_str!("../../../config/prompts/opinion.ko.md"),
        (Task::Opinion, Language::En) => include_str!("../../../config/prompts/opinion.en.md"),
        (Task::Chat, Language::Ko) => include_str!("../../../config/prompts/chat.ko.md"),
        (Task::Chat, Language::En) => include_str!("../../../config/prompts/chat.en.md"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prompt_has_its_six_parts() {
        for task in [Task::Opinion, Task::Chat] {
            for language in [Language::Ko, Language::En] {
                let text = system(task, language);
                let parts = text.lines().filter(|line| line.starts_with("## ")).count();
                assert_eq!(parts, 6, "{task:?} {language:?}");
                let five = (1..=5).all(|number| text.contains(&format!("{number}. ")));
                assert!(five || task == Task::Chat, "{task:?} {language:?}: five principles");
            }
        }
    }

    #[test]
    fn the_five_thoughts_have_the_contracts_names() {
        for language in [Language::Ko, Language::En] {
            for title in ["initial_screening", "pf_stage", "degradation", "rul", "overall_risk"] {
                let line = format!("{title}:");
                assert!(system(Task::Opinion, language).contains(&line), "{language:?} {title}");
            }
        }
    }
}
