//! Answers that are a bare number, and questions that ask for a quantity.
//!
//! A number alone says neither of what it is nor in which unit: a small model's `12.0` was told as
//! the torque of a bolt M12. Such an answer is refused, also where the figure beside its unit was
//! withheld.

use pdm_expert::grounding::WITHHELD;

/// Words by which a question asks for a quantity, in lower case.
const QUANTITY: [&str; 28] = [
    "얼마",
    "몇",
    "토크",
    "간극",
    "온도",
    "압력",
    "회전수",
    "수치",
    "값이",
    "값은",
    "주기",
    "용량",
    "how much",
    "how many",
    "how long",
    "how often",
    "how hot",
    "how fast",
    "how high",
    "what torque",
    "torque",
    "clearance",
    "temperature",
    "max ",
    "what temperature",
    "what pressure",
    "what is the value",
    "what value",
];
/// Words that do not tell which figure is meant.
const EMPTY: [&str; 22] = [
    "입니다",
    "이다",
    "예요",
    "이에요",
    "입니다요",
    "약",
    "답",
    "답은",
    "정답",
    "정답은",
    "값",
    "값은",
    "the",
    "answer",
    "is",
    "it",
    "about",
    "value",
    "result",
    "nm",
    "n",
    "m",
];

/// Whether a question asks for a quantity.
pub(super) fn asks_quantity(question: &str) -> bool {
    let lower = question.to_lowercase();
    QUANTITY.iter().any(|word| lower.contains(word))
}

/// Whether an answer says nothing but a number without a unit, or nothing but withheld figures.
pub(super) fn is_bare(answer: &str) -> bool {
    let is_withheld = [WITHHELD.0, WITHHELD.1].iter().any(|mark| answer.contains(mark));
    let text = answer.replace(WITHHELD.0, " ").replace(WITHHELD.1, " ").to_lowercase();
    let has_digit = text.chars().any(|c| c.is_ascii_digit());
    if !has_digit && !is_withheld {
        return false;
    }
    let units = if is_withheld { EMPTY.len() } else { EMPTY.len() - 3 };
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let is_number_alone = words.clone().all(|word| EMPTY[..units].contains(&word));
    // "85 Nm" and "3단계" have a unit, "30.5%" too
    is_number_alone && (is_withheld || !text.contains(['%', '°', '℃']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_alone_is_no_answer() {
        for bare in [
            "12.0",
            "**12.0**",
            "답: 12",
            "The answer is 12.",
            "12입니다.",
            "[근거 미확인] Nm",
            "[unverified]",
            "[근거 미확인]입니다.",
        ] {
            assert!(is_bare(bare), "{bare}");
        }
        for told in [
            "85 Nm",
            "3단계",
            "30.5%",
            "110 °C",
            "네",
            "토크는 85 Nm입니다.",
            "P-101",
            "없습니다.",
            "토크는 [근거 미확인] Nm입니다.",
        ] {
            assert!(!is_bare(told), "{told}");
        }
    }

    #[test]
    fn questions_for_a_quantity_are_told_from_others() {
        for question in ["M12 볼트 체결 토크가 얼마야?", "How much grease?", "며칠? 몇 시간?"]
        {
            assert!(asks_quantity(question), "{question}");
        }
        for question in ["KODEX 200과 TIGER 200 비교해줘", "P-101 상태", "Who was told?"] {
            assert!(!asks_quantity(question), "{question}");
        }
    }
}
