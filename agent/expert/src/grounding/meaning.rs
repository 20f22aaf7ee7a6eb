//! The meaning of a value: the unit and the subject of a path, and the words by which texts name a
//! subject.

use super::figures::{Unit, measure};

/// The subject of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Lower,
    Upper,
    Life,
    /// The course of the remaining life.
    LifeCourse,
    /// Time that has passed, beside what it is of: told in whole days.
    Passed,
    Lead,
    Kurtosis,
    CrestFactor,
    OuterLine,
    InnerLine,
    ElementLine,
    CageLine,
    Floor,
    Harmonics,
    Sidebands,
    Speed,
    Windows,
    Research,
    Slope,
    Level,
    Confidence,
    Score,
    Delay,
    Signal,
    Velocity,
    Normal,
    Watch,
    Warning,
    Critical,
    /// The stage that the bearing stands at.
    PfStage,
    /// How long it has stood there.
    StageFor,
    /// The course from one stage to the next.
    Course,
    /// One step of the course beside the next.
    Pace,
    /// This bearing beside a past case.
    Compared,
    Work,
    Overdue,
    Repair,
}

use Subject as S;

/// Words by which texts name a subject, in lower case.
const LABELS: &[(Subject, &[&str])] = &[
    (S::Lower, &["하한", "lower bound"]),
    (S::Upper, &["상한", "upper bound"]),
    (
        S::Life,
        &[
            "추정값",
            "추정치",
            "중앙값",
            "잔여수명",
            "estimate",
            "median",
            "remaining life",
            "rul",
            "고장까지",
            "left",
        ],
    ),
    (S::LifeCourse, &["잔여수명 판단", "remaining life went"]),
    (S::Lead, &["리드타임", "lead time", "이내", "within"]),
    (S::Kurtosis, &["첨도", "kurtosis"]),
    (S::CrestFactor, &["파고율", "crest factor"]),
    (S::OuterLine, &["bpfo", "외륜", "outer race"]),
    (S::InnerLine, &["bpfi", "내륜", "inner race"]),
    (S::ElementLine, &["bsf", "전동체", "rolling element"]),
    (S::CageLine, &["ftf", "보지기", "cage"]),
    (S::Floor, &["노이즈 플로어", "floor"]),
    (S::Harmonics, &["고조파", "multiples", "multiple", "harmonics", "harmonic"]),
    (S::Sidebands, &["측대파", "sidebands", "sideband"]),
    (S::Speed, &["회전수", "회전속도", "shaft speed"]),
    (S::Windows, &["기준선", "측정", "baseline", "windows", "window"]),
    (S::Research, &["조사", "researched", "research", "rounds", "round"]),
    (S::Slope, &["기울기", "slope"]),
    (S::Level, &["기준 대비", "기준선 대비", "level"]),
    (S::Confidence, &["신뢰도", "확신", "confidence"]),
    (S::Score, &["이상 점수", "anomaly score", "score"]),
    (S::Delay, &["늦게", "두절", "late"]),
    (S::Signal, &["신호", "signal"]),
    (S::Velocity, &["진동속도", "velocity"]),
    (S::Normal, &["정상", "normal"]),
    (S::Watch, &["주의", "관찰", "watch"]),
    (S::Warning, &["경고", "warning"]),
    (S::Critical, &["위험", "critical"]),
    (S::PfStage, &["p-f"]),
    (S::StageFor, &["이른 지", "at stage"]),
    (S::Course, &["단계까지", "from stage"]),
    (S::Pace, &["단계 진행", "stages follow"]),
    (
        S::Compared,
        &[
            "보다 빠름",
            "보다 느림",
            "와 같음",
            "과 같음",
            "faster than",
            "slower than",
            "as fast as",
        ],
    ),
    (S::Work, &["요청한 조치", "actions asked"]),
    (S::Overdue, &["기한 지남", "overdue"]),
    (S::Repair, &["정비 기록", "repair"]),
];

/// Subjects by a part of a path; the first that fits counts.
const PATHS: &[(&str, &[Subject])] = &[
    ("ci_low", &[S::Lower]),
    ("ci_high", &[S::Upper]),
    ("rul.confidence", &[S::Confidence]),
    ("rul.hours", &[S::Life]),
    ("rul_assessment.hours", &[S::Life, S::Lower]),
    ("lead_time", &[S::Lead]),
    ("kurtosis", &[S::Kurtosis]),
    ("crest_factor", &[S::CrestFactor]),
    ("noise_floor", &[S::Floor]),
    ("normal_floor", &[S::Floor]),
    ("harmonics", &[S::Harmonics]),
    ("sidebands", &[S::Sidebands]),
    (".bpfo.", &[S::OuterLine, S::Floor]),
    (".bpfi.", &[S::InnerLine, S::Floor]),
    (".bsf.", &[S::ElementLine, S::Floor]),
    (".ftf.", &[S::CageLine, S::Floor]),
    ("shaft_speed", &[S::Speed]),
    ("baseline.windows", &[S::Windows]),
    ("history.", &[S::Windows]),
    ("tools.rounds", &[S::Research]),
    ("trend.slope", &[S::Slope]),
    ("level_ratio", &[S::Level]),
    ("frequency_domain.confidence", &[S::Confidence]),
    ("anomaly.score", &[S::Score]),
    ("delayed_s", &[S::Delay]),
    ("window.", &[S::Signal]),
    ("velocity", &[S::Velocity]),
    ("memory.stage_for_h", &[S::StageFor]),
    ("memory.stage_before", &[S::Course]),
    ("memory.stage_took_h", &[S::Pace]),
    ("memory.next_stage_took_h", &[S::Pace]),
    ("memory.stage_here_h", &[S::Compared]),
    ("memory.compared_stage", &[S::Compared]),
    ("memory.rul_then_before", &[S::LifeCourse, S::Passed]),
    ("memory.rul_", &[S::LifeCourse]),
    ("memory.risk_for_h", &[S::Watch, S::Warning, S::Critical]),
    ("memory.work.open", &[S::Work]),
    ("memory.work.overdue", &[S::Overdue]),
];

/// Returns the subjects of a path; empty for a path that no list holds.
pub(super) fn subjects(path: &str) -> &'static [Subject] {
    PATHS.iter().find(|(part, _)| path.contains(part)).map_or(&[], |(_, subjects)| subjects)
}

/// The unit of the value at a path, by the last word of the path; `slope` is the unit of slopes.
pub(super) fn unit(path: &str, slope: &str) -> Unit {
    let path = path.split('[').next().filter(|_| path.ends_with(']')).unwrap_or(path);
    let last = path.rsplit('.').next().unwrap_or(path);
    let time = |hours: f64| Unit::Measure("h".to_owned(), hours);
    let ends = |ending: &str| last == &ending[1..] || last.ends_with(ending);
    match last {
        "slope" | "slope_ci" => return measure(slope),
        "confidence" | "score" => return Unit::Percent,
        "stage" | "better_stage" | "fault_stage" | "stage_before" => return Unit::Stage,
        "hours_before_end" => return time(1.0),
        "open" | "overdue" | "count" | "length" | "windows" | "rounds" | "people" | "used"
        | "invalid" | "recalled" => {
            return Unit::Count;
        }
        _ => {}
    }
    match () {
        () if ends("_mm_s") => measure("mm/s"),
        () if ends("_m_s2") => measure("m/s²"),
        () if ends("_hours") || ends("_h") => time(1.0),
        () if ends("_days") => time(24.0),
        () if ends("_minutes") => time(1.0 / 60.0),
        () if ends("_s") || ends("_seconds") => time(1.0 / 3600.0),
        () if ends("_hz") => measure("hz"),
        () if ends("_rpm") => measure("rpm"),
        () if ends("_db") => measure("db"),
        () if ends("_g") => measure("g"),
        () if ends("_c") => measure("°c"),
        () if ends("_mm") => measure("mm"),
        () if ends("_count") || ends("_windows") => Unit::Count,
        () if ends("_ratio") => Unit::Times,
        () if ends("_stage") => Unit::Stage,
        () => Unit::None,
    }
}

/// Whether a sentence names a subject.
pub(super) fn is_named(sentence: &str, subject: Subject) -> bool {
    let lower = sentence.to_ascii_lowercase();
    labels().any(|(known, word)| {
        known == subject && lower.match_indices(word).any(|(at, _)| is_word(&lower, at, word))
    })
}

/// Returns the subject of a stage, by the words of the sentence.
pub(super) fn of_stage(sentence: &str, start: usize) -> Subject {
    let lower = sentence.to_ascii_lowercase();
    let has = |subject: Subject| {
        labels().any(|(known, word)| {
            let found = lower.match_indices(word).any(|(at, _)| is_word(&lower, at, word));
            known == subject && found
        })
    };
    let before = lower.get(..start).unwrap_or_default().trim_end();
    let is_pf = before.trim_end_matches("stage").trim_end().ends_with("p-f");
    match () {
        () if is_pf => S::PfStage,
        () if has(S::Compared) => S::Compared,
        () if has(S::Course) => S::Course,
        () => S::PfStage,
    }
}

/// The subject that the nearest word before `start` names; else the word right after `end` or the
/// first one behind it. Where a word that is counted stands right behind a number, it is that.
pub(super) fn named(sentence: &str, start: usize, end: usize, is_count: bool) -> Option<Subject> {
    let lower = sentence.to_ascii_lowercase();
    let after = lower.get(end..).unwrap_or_default();
    if is_count {
        let noun = after.trim_start();
        let right = labels().filter(|(_, word)| noun.starts_with(word) && is_word(noun, 0, word));
        if let Some((subject, _)) = right.max_by_key(|(_, word)| word.len()) {
            return Some(subject);
        }
    }
    let before = lower.get(..start).unwrap_or_default();
    let left = labels().filter_map(|(subject, word)| {
        let at =
            before.rmatch_indices(word).map(|(at, _)| at).find(|at| is_word(before, *at, word));
        at.map(|at| (at + word.len(), word.len(), subject))
    });
    if let Some((_, _, subject)) = left.max_by_key(|(end, length, _)| (*end, *length)) {
        return Some(subject);
    }
    // "within" stands before what it speaks of
    let right = labels().filter(|(_, word)| *word != "within").filter_map(|(subject, word)| {
        let at = after.match_indices(word).map(|(at, _)| at).find(|at| is_word(after, *at, word));
        at.map(|at| (at, usize::MAX - word.len(), subject))
    });
    right.min_by_key(|(at, shortness, _)| (*at, *shortness)).map(|(_, _, subject)| subject)
}

fn labels() -> impl Iterator<Item = (Subject, &'static str)> {
    LABELS.iter().flat_map(|(subject, words)| words.iter().map(|word| (*subject, *word)))
}

/// An English word stands by itself; a Korean one may have particles and be part of a compound.
fn is_word(text: &str, at: usize, word: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !word.is_ascii()
        || (!text[..at].ends_with(letter) && !text[at + word.len()..].starts_with(letter))
}
