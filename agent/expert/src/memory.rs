//! The last judgements and what was done, told in words with times: "5일 전 정상 판정, 15일 전 Watch
//! 판정 이력 존재".

use pdm_shared::bounds::{MAX_WORD, in_one_line};
use pdm_shared::diagnosis::MemoryUse;
use pdm_shared::follow_up::{FollowUpState, Verdict};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use crate::case::{Memory, Remembered, Work};
use crate::wording::{ago, element, joined};

/// Most pieces of work that are told.
const MAX_WORK: usize = 3;

/// Entries of one risk in a row, newest first.
struct Stretch<'a> {
    entries: Vec<&'a Remembered>,
}

/// Tells what is remembered, newest first.
pub fn memory_use(memory: &Memory, now: Timestamp) -> MemoryUse {
    let recent = &memory.recent;
    if recent.is_empty() {
        return MemoryUse::default();
    }
    let stretches = stretches(recent);
    let told: Vec<Text> =
        stretches.iter().map(|stretch| one(stretch, stretches.len() == 1, now)).collect();
    let ko: Vec<&str> = told.iter().map(|text| text.ko.as_str()).collect();
    let en: Vec<&str> = told.iter().map(|text| text.en.as_str()).collect();
    let mut parts = vec![Text::new(
        format!("{} 이력 존재", ko.join(", ")),
        format!("On record: {}", en.join(", ")),
    )];
    parts.extend(done(&memory.work, now));
    MemoryUse { used: u32::try_from(recent.len()).unwrap_or(u32::MAX), summary: joined(&parts) }
}

fn stretches(recent: &[Remembered]) -> Vec<Stretch<'_>> {
    let mut out: Vec<Stretch<'_>> = Vec::new();
    for entry in recent {
        match out.last_mut() {
            Some(last) if last.newest().risk == entry.risk => last.entries.push(entry),
            _ => out.push(Stretch { entries: vec![entry] }),
        }
    }
    out
}

impl Stretch<'_> {
    fn newest(&self) -> &Remembered {
        self.entries[0]
    }

    fn windows(&self) -> u64 {
        self.entries.iter().map(|entry| u64::from(entry.windows)).sum()
    }

    /// Stage, element and remaining life, where there are any.
    fn detail(&self) -> Option<Text> {
        let newest = self.newest();
        let (mut ko, mut en) = (Vec::new(), Vec::new());
        if newest.stage > 0 {
            let first = self.entries.last().map_or(newest.stage, |entry| entry.stage);
            if first == newest.stage {
                ko.push(format!("{}단계", newest.stage));
                en.push(format!("stage {}", newest.stage));
            } else {
                ko.push(format!("{first}→{}단계", newest.stage));
                en.push(format!("stage {first} to {}", newest.stage));
            }
        }
        if let Some(name) = newest.fault.map(element) {
            ko.push(name.ko);
            en.push(name.en);
        }
        if let Some(life) = newest.rul_hours.filter(|_| newest.risk > RiskLevel::Normal) {
            let life = crate::wording::life(life);
            let (ko_figure, en_figure) = match newest.rul_is_lower_bound {
                Some(true) => (" 하한", "lower bound of the remaining life then"),
                Some(false) => (" 중앙값", "median of the remaining life then"),
                None => ("", "remaining life then"),
            };
            ko.push(format!("당시 잔여수명{ko_figure} {}", life.ko));
            en.push(format!("{en_figure} {}", life.en));
        }
        (!ko.is_empty()).then(|| Text::new(ko.join(", "), en.join(", ")))
    }
}

fn one(stretch: &Stretch<'_>, is_all: bool, now: Timestamp) -> Text {
    let newest = stretch.newest();
    let ko_risk = if newest.risk == RiskLevel::Normal { "정상" } else { newest.risk.as_str() };
    let en_risk = newest.risk.as_str();
    let begun = stretch.entries.last().map_or(newest.measured_at, |entry| entry.begun());
    let (newest_age, oldest) =
        (ago(now.seconds_since(newest.measured_at)), ago(now.seconds_since(begun)));
    let count = stretch.windows();
    let detail = stretch.detail().map_or_else(
        || Text::new("", ""),
        |detail| Text::new(format!("({})", detail.ko), format!(" ({})", detail.en)),
    );
    if count == 1 {
        return Text::new(
            format!("{} {ko_risk}{} 판정", newest_age.ko, detail.ko),
            format!("{en_risk}{} {}", detail.en, newest_age.en),
        );
    }
    let (ko_span, en_span) = if newest_age == oldest {
        (newest_age.ko, newest_age.en)
    } else {
        (
            format!("{}부터 {}까지", oldest.ko, newest_age.ko),
            format!("{} to {}", oldest.en, newest_age.en),
        )
    };
    if is_all {
        Text::new(
            format!("최근 {count}건 모두 {ko_risk}{} 판정({ko_span})", detail.ko),
            format!("all of the last {count} {en_risk}{} ({en_span})", detail.en),
        )
    } else {
        Text::new(
            format!("{ko_span} {ko_risk}{} 판정 {count}회", detail.ko),
            format!("{en_risk}{} {count} times ({en_span})", detail.en),
        )
    }
}

/// Returns the sentences on the work that was asked for: the work that was done, with its findings,
/// then the work that is late.
fn done(work: &[Work], now: Timestamp) -> Vec<Text> {
    let closed = work
        .iter()
        .filter(|work| matches!(work.state, FollowUpState::Done | FollowUpState::Dropped));
    let late = work.iter().filter(|work| work.is_overdue(now));
    closed.chain(late).take(MAX_WORK).map(|work| tell_work(work, now)).collect()
}

fn tell_work(work: &Work, now: Timestamp) -> Text {
    let at = work.at.or(work.due_at).unwrap_or(work.asked_at);
    let when = ago(now.seconds_since(at));
    let (ko_state, en_state) = match work.state {
        FollowUpState::Done => ("완료", "done"),
        FollowUpState::Dropped => ("안 함", "dropped"),
        FollowUpState::Open | FollowUpState::Superseded => ("기한 지남", "overdue since"),
    };
    let found = work.found.as_ref().map_or_else(
        || Text::new("", ""),
        |found| {
            let (ko, en) = match found.verdict {
                Verdict::Right => ("판정 맞음", "the judgement was right"),
                Verdict::Wrong => ("이상 없음", "nothing was wrong"),
                Verdict::OtherCause => ("다른 원인", "another cause"),
            };
            let part = found.element.map(element).map_or_else(
                || Text::new("", ""),
                |part| Text::new(format!(" {}", part.ko), format!(" {}", part.en)),
            );
            // a person's words: told as one bounded line, never as a figure of ours
            let cause = found.cause.as_deref().map(|cause| {
                in_one_line(cause, MAX_WORD).replace(|c: char| c.is_ascii_digit(), "#")
            });
            let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
            Text::new(
                format!(", 확인 결과 {ko}{}{cause}", part.ko),
                format!(", found: {en}{}{cause}", part.en),
            )
        },
    );
    Text::new(
        format!("· 조치 \"{}\" {ko_state}({}{})", work.action.ko, when.ko, found.ko),
        format!("· \"{}\" {en_state} {}{}", work.action.en, when.en, found.en),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(days_ago: f64, risk: RiskLevel) -> Remembered {
        let now = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
        let measured_at = now.plus_seconds(-days_ago * 86_400.0);
        Remembered::verdict(measured_at, risk, 0, None)
    }

    fn tell_now(recent: &[Remembered]) -> Text {
        let memory = Memory { recent: recent.to_vec(), ..Memory::default() };
        memory_use(&memory, Timestamp::from_unix_ms(1_795_238_000_000).expect("in range")).summary
    }

    /// R-AGENT-9: the seed's own example.
    #[test]
    fn history_is_told_as_the_seed_tells_it() {
        let told = tell_now(&[at(5.2, RiskLevel::Normal), at(15.5, RiskLevel::Watch)]);
        assert_eq!(told.ko, "5일 전 정상 판정, 15일 전 Watch 판정 이력 존재");
        assert_eq!(told.en, "On record: Normal 5 days ago, Watch 15 days ago");
    }

    #[test]
    fn judgements_of_one_risk_in_a_row_are_told_together() {
        let recent =
            [at(1.5, RiskLevel::Watch), at(2.5, RiskLevel::Normal), at(3.5, RiskLevel::Normal)];
        assert_eq!(
            tell_now(&recent).ko,
            "1일 전 Watch 판정, 3일 전부터 2일 전까지 정상 판정 2회 이력 존재"
        );
        let all = [at(0.1, RiskLevel::Normal), at(0.2, RiskLevel::Normal)];
        assert_eq!(
            tell_now(&all).ko,
            "최근 2건 모두 정상 판정(5시간 전부터 2시간 전까지) 이력 존재"
        );
    }

    /// R-AGENT-9: stage, element, remaining life then, and what was done.
    #[test]
    fn an_entry_tells_the_life_of_then_and_what_was_found() {
        use pdm_shared::fault::Fault;
        use pdm_shared::follow_up::WorkFound;
        let now = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
        let mut entry = at(2.5, RiskLevel::Warning);
        (entry.stage, entry.fault, entry.rul_hours) = (2, Some(Fault::OuterRace), Some(420.0));
        let work = Work {
            event_id: pdm_shared::id::EventId::at(1),
            asked_at: now.plus_seconds(-2.0 * 86_400.0),
            action: Text::new("베어링 점검", "Inspect the bearing"),
            due_at: None,
            work_order: None,
            state: FollowUpState::Done,
            at: Some(now.plus_seconds(-5.0 * 3600.0)),
            repaired: false,
            found: Some(WorkFound {
                verdict: Verdict::OtherCause,
                element: None,
                cause: Some("coupling 0.3 mm".to_owned()),
            }),
        };
        let memory = Memory { recent: vec![entry], work: vec![work], ..Memory::default() };
        let told = memory_use(&memory, now).summary;
        assert_eq!(
            told.en,
            "On record: Warning (stage 2, outer race, remaining life then 18 days) 2 days ago · \
             \"Inspect the bearing\" done 5 hours ago, found: another cause: coupling #.# mm"
        );
        assert!(told.ko.contains("당시 잔여수명 18일"), "{}", told.ko);
    }

    #[test]
    fn no_history_is_said_so() {
        assert_eq!(tell_now(&[]).ko, "이전 판정 이력 없음");
    }
}
