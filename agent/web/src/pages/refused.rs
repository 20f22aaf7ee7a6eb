//! Refusals in the reader's language.
//!
//! The API answers in English, and what refuses knows no reader; a page says the same in Korean. A
//! text that is not known here is shown as it is, marked as English, below a sentence of its
//! status.

use axum::http::StatusCode;
use pdm_service::http::callers::Role;
use pdm_shared::particle::{Particle, with_particle};
use pdm_shared::text::Language;
use pdm_shared::time::Timestamp;

use crate::times;

/// The key of the sentence for a status.
pub(super) fn heading(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "refused_unknown",
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => "refused_forbidden",
        StatusCode::CONFLICT => "refused_stale",
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => "refused_input",
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => "refused_later",
        _ => "refused_otherwise",
    }
}

/// Returns a refusal in a language; `None` where only the English is known.
pub(super) fn refusal_in_language(detail: &str, language: Language) -> Option<String> {
    match language {
        Language::En => Some(detail.to_owned()),
        Language::Ko => whole(detail)
            .map(str::to_owned)
            .or_else(|| shelf(detail))
            .or_else(|| ended(detail))
            .or_else(|| change(detail))
            .or_else(|| unknown(detail))
            .or_else(|| parameter(detail))
            .or_else(|| role(detail))
            .or_else(|| writer(detail))
            .or_else(|| document(detail)),
    }
}

#[expect(clippy::too_many_lines, reason = "a table: one entry a refusal")]
fn whole(detail: &str) -> Option<&'static str> {
    let told = match detail {
        "the form is of an earlier login: open the page again" => {
            "이전 로그인에서 열린 양식입니다. 페이지를 다시 열어 주십시오."
        }
        "another alarm stands by now, or none" => {
            "그사이 다른 경보로 바뀌었거나 경보가 끝났습니다. 페이지를 다시 열어 주십시오."
        }
        "no judgement of this bearing asks for such work" => {
            "이 베어링에 그런 작업이 없습니다. 보고는 기록되지 않았습니다."
        }
        "the report is older than ten minutes and stands; send another one" => {
            "보고한 지 10분이 지나 되돌릴 수 없습니다. 새로 보고해 주십시오."
        }
        "the acknowledgement is older than ten minutes and stands" => {
            "확인한 지 10분이 지나 되돌릴 수 없습니다."
        }
        "no document was chosen" => "문서를 고르지 않았습니다.",
        "the check mark is missing" => "확인 표시를 하지 않았습니다.",
        "the document comes with the program and stays" => {
            "프로그램과 함께 온 문서라 지울 수 없습니다."
        }
        "uploads of yours are still on their way: send this one when they have arrived" => {
            "먼저 보낸 문서가 아직 오는 중입니다. 도착한 뒤에 다시 보내 주십시오."
        }
        "the knowledge base does not answer at the moment" => {
            "지식 저장소가 지금 답하지 않습니다. 잠시 후 다시 시도해 주십시오."
        }
        "nothing was chosen" => "고른 항목이 없습니다.",
        "at most 100 alarms can be chosen at once" => "한 번에 100건까지 고를 수 있습니다.",
        "the end of the shelf is missing" => "보류 종료 시각이 없습니다.",
        "no photo was chosen" => "사진을 고르지 않았습니다.",
        "the photo is larger than 12 MB" => "사진 한 장은 12 MB까지입니다.",
        "the file is no photo: allowed is JPEG, PNG and WebP" => {
            "사진이 아닌 파일입니다. JPEG, PNG, WebP만 받습니다."
        }
        "the photo is broken off or damaged" => "사진이 중간에 끊겼거나 손상되었습니다.",
        "the file holds something else beside a picture" => {
            "파일에 사진 말고 다른 내용이 들어 있어 받지 않았습니다."
        }
        "the photo has more than 110 million pixels" => "사진은 1억 1천만 화소까지입니다.",
        "the photos together are larger than 40 MB: send fewer at once" => {
            "한 번에 보내는 사진은 모두 40 MB까지입니다. 나누어 보내 주십시오."
        }
        "photos of yours are still on their way: send these when they have arrived" => {
            "먼저 보낸 사진이 아직 오는 중입니다. 도착한 뒤에 다시 보내 주십시오."
        }
        "the form did not arrive whole: send it again" => {
            "양식이 끝까지 도착하지 않았습니다. 다시 보내 주십시오."
        }
        "the work order has 12 photos already: remove one first" => {
            "이 작업지시서에는 사진이 이미 12장 있습니다. 먼저 하나를 삭제해 주십시오."
        }
        "the room for photos is full: an administrator has to make some" => {
            "사진을 둘 자리가 찼습니다. 관리자에게 알려 주십시오."
        }
        "photos are not kept here: the agent writes no documents" => {
            "이 에이전트는 문서를 쓰지 않으므로 사진을 둘 곳이 없습니다."
        }
        "the bearing is not shelved" => "이 베어링은 보류 중이 아닙니다.",
        "the end of the shelf is past" => "보류 종료 시각이 이미 지났습니다.",
        "reason is empty, allowed is why staff is told nothing"
        | "reason is empty, allowed is why it is done" => "사유가 비어 있습니다.",
        "note is empty" => "메모가 비어 있습니다.",
        "by is empty, allowed is the name of a person" => "이름이 비어 있습니다.",
        "hours is no number, allowed is above 0 and up to 168" => {
            "시간은 0보다 크고 168 이하인 수여야 합니다."
        }
        "another administrator has to do that to you" => {
            "자기 자신에게는 할 수 없습니다. 다른 관리자에게 부탁하십시오."
        }
        "the store does not answer at the moment" => {
            "저장소가 지금 답하지 않습니다. 잠시 후 다시 시도해 주십시오."
        }
        "the link is not one of this agent, or was changed on its way" => {
            "이 시스템이 만든 링크가 아니거나 전달 중에 바뀌었습니다. 받은 메시지의 링크를 다시 여십시오."
        }
        "a page of another server sent this request" => "다른 서버의 페이지가 보낸 요청입니다.",
        _ => return None,
    };
    Some(told)
}

/// A report that was kept in a browser and written by another user.
fn writer(detail: &str) -> Option<String> {
    let name = detail.strip_prefix("the report was written by ")?;
    let name = name.strip_suffix("; log in as that user")?.trim_matches('"');
    Some(format!("{name} 사용자가 쓴 보고입니다. 그 사용자로 로그인하면 보냅니다."))
}

/// A file that is no document of the knowledge base.
fn document(detail: &str) -> Option<String> {
    if let Some(most) = detail.strip_prefix("a document has at most ") {
        return Some(format!("문서 하나는 {most}까지입니다."));
    }
    let (name, why) = detail.split_once(": ")?;
    let why = if why.starts_with("only .md, .txt and .pdf are read") {
        "읽을 수 있는 형식은 .md, .txt, .pdf입니다. HWP, HWPX, DOCX 문서는 PDF로 저장해 올리십시오."
            .to_owned()
    } else if why == "no text in it" {
        "글이 들어 있지 않습니다. 스캔한 문서라면 글자를 인식(OCR)해 다시 저장하십시오.".to_owned()
    } else if let Some(rest) = why.strip_prefix("larger than ") {
        let bytes: u64 = rest.split(' ').next()?.parse().ok()?;
        format!("너무 큽니다. 이 형식은 {} MB까지 읽습니다.", bytes / (1024 * 1024))
    } else if let Some(rest) = why.strip_prefix("the id ") {
        let id = rest.split(" is that of a document of the program").next()?;
        format!("문서 번호 {id}는 프로그램과 함께 온 문서의 것입니다. 다른 번호를 쓰십시오.")
    } else if why.starts_with("no readable PDF") {
        "읽을 수 없는 PDF입니다. 암호가 걸려 있거나 손상되었습니다.".to_owned()
    } else {
        return None;
    };
    Some(format!("{name}: {why}"))
}

fn shelf(detail: &str) -> Option<String> {
    let latest = detail.strip_prefix("a shelf lasts 7 days at most: until ")?;
    Some(format!("보류는 최대 7일({})까지입니다.", written(latest)))
}

/// A time of a refusal as people of the plant read it.
fn written(text: &str) -> String {
    let at = Timestamp::parse(text).ok();
    at.map_or_else(|| text.to_owned(), |at| times::plant_zone().in_words(at))
}

/// A link that has ended.
fn ended(detail: &str) -> Option<String> {
    let at = detail.strip_prefix("the link ended at ")?;
    Some(format!("링크의 유효 기간이 끝났습니다({}).", written(at)))
}

/// Returns the Korean text of a refusal to take out, rename or replace.
fn change(detail: &str) -> Option<String> {
    if let Some(name) = detail.strip_prefix("nothing is known of ") {
        return Some(format!("{name}: 그런 이름이 없습니다. 이미 제거되었을 수 있습니다."));
    }
    if let Some((name, _)) = detail.split_once(" is known already: ") {
        return Some(format!(
            "{name}: 이미 있는 이름입니다. 두 기록을 합치려면 '합침'을 고르십시오(되돌릴 수 없음)."
        ));
    }
    if let Some((names, _)) = detail.split_once(": allowed are two different names of one level") {
        return Some(format!("{names}: 같은 단계의 서로 다른 두 이름이어야 합니다."));
    }
    let (names, _) = detail.split_once(": allowed are two gateways of one site")?;
    Some(format!("{names}: 같은 사이트의 서로 다른 두 게이트웨이여야 합니다."))
}

fn unknown(detail: &str) -> Option<String> {
    let what = match detail.strip_prefix("no such ")? {
        "bearing" => "베어링",
        "episode" => "에피소드",
        "machine" => "설비",
        "judgement" | "diagnosis" => "판정",
        "event" => "이벤트",
        "user" => "사용자",
        "token" => "토큰",
        "report" => "보고",
        "page" => "페이지",
        "photo" => "사진",
        "document" => "문서",
        "action" | "work of this judgement" | "work of that event" => "작업",
        _ => return None,
    };
    Some(format!("{} 찾을 수 없습니다.", with_particle(what, Particle::Object)))
}

/// `NAME is "GOT", allowed is ALLOWED`.
fn parameter(detail: &str) -> Option<String> {
    let (field, rest) = detail.split_once(" is \"")?;
    let (got, allowed) = rest.split_once("\", allowed is ")?;
    let name = match field {
        "verdict" => "판정 확인",
        "element" => "부위",
        "state" => "상태",
        "risk" => "위험도",
        "hours" => "시간",
        "until" => "보류 종료 시각",
        "days" => "일수",
        "language" => "언어",
        "part" | "to" | "from" => "이름",
        "gateway" | "new" => "게이트웨이",
        _ => "값",
    };
    let allowed = match allowed {
        "a day and an hour such as 2026-11-30T07:00" => "2026-11-30T07:00 과 같은 날짜와 시각",
        "a UUID" => "식별자(UUID)",
        "a number above 0 and up to 168" => "0보다 크고 168 이하인 수",
        "the `next` of the page before" => "이전 쪽의 링크",
        other => other,
    };
    Some(format!("{name} \"{got}\"({field}): 쓸 수 없는 값입니다. 허용: {allowed}"))
}

fn role(detail: &str) -> Option<String> {
    let rest = detail.strip_prefix("this needs the role ")?;
    let (needed, has) = rest.split_once(", you have ")?;
    let name = |word: &str| match word {
        word if word == Role::Admin.as_str() => "관리자",
        word if word == Role::Technician.as_str() => "정비원",
        word if word == Role::Viewer.as_str() => "열람자",
        _ => "없음",
    };
    Some(format!("{} 역할이 필요합니다. 지금 역할: {}", name(needed), name(has)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-UI-1: what a page refuses is said in Korean on a Korean page.
    #[test]
    fn a_refusal_is_told_in_the_readers_language() {
        let ko = |detail: &str| refusal_in_language(detail, Language::Ko);
        let shelf =
            ko("a shelf lasts 7 days at most: until 2026-12-04T17:45:46.408Z").expect("known");
        assert_eq!(shelf, "보류는 최대 7일(2026-12-04 17:45 UTC)까지입니다.");
        let forged = ko(&crate::link::LinkError::Forged.to_string()).expect("known");
        assert!(forged.starts_with("이 시스템이 만든 링크가 아니거나"), "{forged}");
        let ended = ko(&crate::link::LinkError::Expired(Timestamp::EPOCH).to_string());
        assert_eq!(ended.as_deref(), Some("링크의 유효 기간이 끝났습니다(1970-01-01 00:00 UTC)."));
        assert_eq!(ko("no such machine").as_deref(), Some("설비를 찾을 수 없습니다."));
        let role = ko("this needs the role admin, you have viewer").expect("known");
        assert_eq!(role, "관리자 역할이 필요합니다. 지금 역할: 열람자");
        let hours = ko("hours is \"long\", allowed is a number above 0 and up to 168");
        assert_eq!(
            hours.as_deref(),
            Some("시간 \"long\"(hours): 쓸 수 없는 값입니다. 허용: 0보다 크고 168 이하인 수")
        );
        let known = ko("nothing is known of ulsan-1/P-9").expect("known");
        assert!(known.starts_with("ulsan-1/P-9: 그런 이름이"), "{known}");
        assert!(ko("a/b is known already: the history").is_some());
        assert!(ko("event_id is \"xyz\", allowed is a UUID").is_some());
        assert_eq!(ko("something new"), None, "marked as English by the page");
        assert_eq!(
            refusal_in_language("something new", Language::En).as_deref(),
            Some("something new")
        );
    }
}
