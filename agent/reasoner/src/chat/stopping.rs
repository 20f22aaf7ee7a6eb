//! Answers whether a machine may go on running: by the level of its bearing, and until the day that
//! a question names.

use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};

use super::desk::{CoreFields, Focus};
use super::figures::age;
use super::reader::Reader;
use super::records::life;
use super::{dates, intent, stated, watching};

/// What a level says of running.
pub(super) fn verdict(risk: RiskLevel) -> Text {
    match risk {
        RiskLevel::Critical => Text::new(
            "계속 운전하지 마십시오. 위험 판정이므로 안전하게 멈출 수 있는 가장 빠른 때에 정지합니다.",
            "Do not go on running: it is judged Critical. Stop at the earliest safe time.",
        ),
        RiskLevel::Warning => Text::new(
            "당장 세우라는 판정은 아니지만, 교체를 계획하고 그때까지 감시를 늘립니다.",
            "It need not stop at once; plan the replacement and watch it closely until then.",
        ),
        RiskLevel::Watch => Text::new(
            "계속 운전해도 됩니다. 다음 측정에서 확인합니다.",
            "It may go on running; confirm by the next measurements.",
        ),
        RiskLevel::Normal => {
            Text::new("정지할 이유가 제 기록에는 없습니다.", "My records give no reason to stop.")
        }
    }
}

/// What is answered where somebody asks for what vibration does not cover: the safety of people, a
/// higher speed or load, or a condition. A level that is high is told; one that is low permits
/// nothing.
fn beyond(focus: &Focus, reader: Reader) -> String {
    let (language, core) = (reader.language, &focus.core);
    let mut parts = vec![core.line(language)];
    parts.extend(watching::unseen(core, reader));
    if core.risk >= RiskLevel::Warning {
        let advice = focus.advice.in_language(language);
        parts.push(verdict(core.risk).in_language(language).to_owned());
        parts.push(format!("→ {advice}"));
    }
    parts.push(not_covered(language).to_owned());
    parts.extend(age(core, reader));
    parts.join("\n")
}

/// That a judgement by vibration does not answer a question, and who does.
pub(super) const fn not_covered(language: Language) -> &'static str {
    match language {
        Language::Ko => {
            "이 질문에는 진동 판정으로 답할 수 없습니다. 진동의 판정만 본 것이라 사람의 안전, 속도와 부하, 청소, 우회 같은 조건은 들어 있지 않습니다. \
             현장의 안전 수칙과 담당자가 정합니다."
        }
        Language::En => {
            "A judgement of vibration does not answer this: the safety of people, speed and load, \
             cleaning, bypasses and other conditions are not in it. The plant's safety rules and \
             the person in charge decide."
        }
    }
}

/// What is answered where somebody asks whether a machine may go on running.
pub(super) fn stop(focus: &Focus, clause: &str, reader: Reader) -> String {
    let language = reader.language;
    let core = &focus.core;
    if let Some(reading) = stated::reading_in(clause) {
        return stated::against(focus, &reading, reader);
    }
    if intent::asks_beyond_vibration(clause) {
        return beyond(focus, reader);
    }
    let verdict = verdict(core.risk);
    let line = core.line(language);
    let (verdict, advice) = (verdict.in_language(language), focus.advice.in_language(language));
    let unseen = watching::unseen(core, reader);
    let mut parts = vec![line];
    if core.is_advised() {
        parts.extend([verdict.to_owned(), format!("→ {advice}")]);
        parts.extend(unseen);
    } else {
        // an early sign of before says nothing of now
        parts.extend(unseen);
        parts.push(watching::cannot_say(language).to_owned());
    }
    if core.risk > RiskLevel::Normal {
        parts.push(life(focus, language));
        parts.extend(until_day(core, clause, reader));
    }
    parts.extend(age(core, reader));
    parts.push(match language {
        Language::Ko => "이 답은 진동의 판정만 본 것입니다. 침수, 윤활, 커버 같은 다른 조건은 들어 있지 않으며, 운전과 정지는 현장의 안전 절차와 \
                         담당자가 정합니다.".to_owned(),
        Language::En => "This rests on the judgement of its vibration alone: floods, lubricants, \
                         open covers and other conditions are not \
             in it. The plant's own safety rules and its people decide on running and \
             stopping.".to_owned(),
    });
    parts.join("\n")
}

/// The time until the end of the day that a clause names, beside the remaining life to plan with.
fn until_day(core: &CoreFields, clause: &str, reader: Reader) -> Option<String> {
    let (today, now, life_h) = (reader.today()?, reader.now?, core.rul_hours?);
    let day = dates::day_ahead_in(clause, today)?;
    let end = reader.zone.instant(day.succ_opt()?.and_time(chrono::NaiveTime::MIN))?;
    let hours = end.seconds_since(now) / 3600.0;
    let is_longer = life_h > hours;
    Some(match (is_longer, reader.language) {
        (true, Language::Ko) => format!(
            "{day}이 끝날 때까지 {hours:.0}시간: 계획에 쓰는 잔여수명 {life_h:.0}시간이 더 깁니다."
        ),
        (false, Language::Ko) => format!(
            "{day}이 끝날 때까지 {hours:.0}시간: 계획에 쓰는 잔여수명 {life_h:.0}시간이 더 짧습니다."
        ),
        (true, Language::En) => format!(
            "Until the end of {day}: {hours:.0} h. The remaining life to plan with, {life_h:.0} h, \
             is longer."
        ),
        (false, Language::En) => format!(
            "Until the end of {day}: {hours:.0} h. The remaining life to plan with, {life_h:.0} h, \
             is shorter."
        ),
    })
}
