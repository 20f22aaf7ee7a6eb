//! Questions that no word of the lists decides: what they were taken for is said, so that an answer
//! to another question shows itself.

use pdm_shared::text::Text;

use super::lookup::Lookup;
use super::resemblance::{Spoken, likely};
use super::{by_rules, plain};

/// Share of likeness from which on a reading is not called a guess. Chosen by the questions of a
/// second plant, whose author did not know how a question is read.
const PLAIN: f32 = 0.6;

/// Whether a clause was taken for this by its likeness to other questions alone, and not surely.
pub(in crate::chat) fn is_guessed(lookup: Lookup, clause: &str, is_about_one: bool) -> bool {
    if name(lookup).is_none() || plain::plain(clause, false, is_about_one).is_some() {
        return false;
    }
    let ruled = by_rules(clause, is_about_one, is_about_one);
    let spoken = if is_about_one { Spoken::Before } else { Spoken::Plant };
    let [first, _] = likely(clause, spoken);
    !ruled.contains(&lookup) && ruled.is_empty() && first.share < PLAIN
}

/// Returns the subject of an answer in words; `None` for an answer that names its subject itself:
/// documents, refusals, questions back.
pub(in crate::chat) fn name(lookup: Lookup) -> Option<Text> {
    use Lookup as L;
    let (ko, en) = match lookup {
        L::Fleet | L::Stops => ("설비 전체의 상태", "the state of all machines"),
        L::Sites => ("사업장 비교", "a comparison of sites"),
        L::Standing => ("정지한 설비", "machines that stand still"),
        L::Count => ("베어링과 설비의 수", "how many bearings there are"),
        L::Sound => ("정상인 설비", "sound machines"),
        L::Alarms => ("열린 경보", "open alarms"),
        L::AlarmCounts => ("경보 건수", "the number of alarms"),
        L::Verdicts => ("판정이 맞았는지", "whether judgements were right"),
        L::Thresholds => ("경보 기준", "what makes an alarm"),
        L::DueNext | L::Work | L::WorkOfAll | L::Overdue | L::Assigned => {
            ("열린 작업", "open work")
        }
        L::Heard => ("마지막 측정", "what was measured last"),
        L::Zones => ("진동 구역", "zones of vibration"),
        L::ToldOfAll | L::Told => ("보낸 알림", "what staff was told"),
        L::Shelf => ("보류된 경보", "shelved alarms"),
        L::Sensors => ("센서 이상", "bad sensors"),
        L::Notes | L::NotesOfAll => ("사람이 적은 메모", "what people wrote"),
        L::Lines => ("결함 주파수의 선", "lines of defect frequencies"),
        L::Compare => ("두 베어링의 비교", "a comparison of two bearings"),
        L::Why => ("판정 근거", "the grounds of a judgement"),
        L::Onset => ("언제부터 이상인지", "since when it is abnormal"),
        L::Changes => ("추이", "what has changed"),
        L::Stop => ("세워야 하는지", "whether it may go on running"),
        L::Doubts => ("판정의 불확실성", "how certain the judgement is"),
        L::Figures => ("측정값", "measured figures"),
        L::Speed => ("회전 속도", "the shaft speed"),
        L::Identity => ("베어링 형번과 위치", "which bearing it is"),
        L::Unmeasured => ("측정하지 않는 값", "what is not measured"),
        L::Life => ("잔여수명", "remaining life"),
        L::Stock => ("예비품 재고", "spare parts in stock"),
        L::LeadTime => ("조달 기간", "lead times"),
        L::ReplaceTime => ("교체에 드는 시간", "how long a replacement takes"),
        L::Past => ("지난 판정", "earlier judgements"),
        L::Duty => ("당직", "who is on duty"),
        L::Route => ("알림 순서", "who is told of an alarm"),
        L::Gateways => ("게이트웨이", "gateways"),
        L::State
        | L::Person
        | L::ZoneLimits
        | L::Replacement
        | L::OutOfScope
        | L::NotRead
        | L::Meaning
        | L::Value
        | L::Manual
        | L::Own
        | L::Handover
        | L::Search
        | L::Cases
        | L::Which
        | L::Act
        | L::Program
        | L::Help => return None,
    };
    Some(Text::new(ko, en))
}
