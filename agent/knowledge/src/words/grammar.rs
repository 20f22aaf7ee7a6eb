//! Endings and stop words of Korean and English: general grammar, no words chosen for the test
//! questions.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Whether the text is a Korean particle or ending.
pub(super) fn is_ending(run: &str) -> bool {
    ENDINGS.contains(&run)
}

/// Whether a word carries no information about the question.
pub(super) fn is_stop(word: &str) -> bool {
    STOPS.contains(word)
}

/// Whether a word only carries the question: it says nothing of what is asked for, and stays in the
/// keywords for the sake of stored passages.
pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word)
}

/// An English word without plural and tense endings; words with digits stay.
pub(super) fn stem(word: &str) -> &str {
    if !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return word;
    }
    let kept = |ending: &str| word.strip_suffix(ending).filter(|rest| rest.len() >= 4);
    kept("ing")
        .or_else(|| kept("ed"))
        .or_else(|| kept("es"))
        .or_else(|| {
            let plural = word.len() > 3 && !word.ends_with("ss") && !word.ends_with("is");
            word.strip_suffix('s').filter(|_| plural)
        })
        .or_else(|| kept("e"))
        .unwrap_or(word)
}

/// Removes one particle or ending if at least two syllables are left.
pub(super) fn without_particle(run: &str) -> &str {
    if run.chars().next_back().is_none_or(|last| !LAST_OF_ENDINGS.contains(&last)) {
        return run;
    }
    ENDINGS
        .iter()
        .filter_map(|ending| run.strip_suffix(ending))
        .find(|stem| stem.chars().count() >= 2)
        .unwrap_or(run)
}

/// Last syllables of [`ENDINGS`]: most words end in none of them, and need no comparison with all
/// endings.
static LAST_OF_ENDINGS: LazyLock<HashSet<char>> =
    LazyLock::new(|| ENDINGS.iter().filter_map(|ending| ending.chars().next_back()).collect());

/// Stop words of both languages.
static STOPS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| STOP_KOREAN.iter().chain(STOP_ENGLISH).copied().collect());

/// Particles and endings, longest first: general Korean grammar, none chosen for the test
/// questions.
const ENDINGS: &[&str] = &[
    "되었습니까",
    "했습니까",
    "합니까",
    "입니까",
    "습니까",
    "되었나요",
    "했나요",
    "하나요",
    "되나요",
    "인가요",
    "있나요",
    "나요",
    "까요",
    "했는데",
    "하는데",
    "인데",
    "되었다",
    "되었던",
    "하였다",
    "했다",
    "했던",
    "한다",
    "된다",
    "하면",
    "되면",
    "하는",
    "되는",
    "하고",
    "되고",
    "해서",
    "돼서",
    "에서는",
    "에서",
    "에게",
    "으로는",
    "으로",
    "이란",
    "이다",
    "부터",
    "까지",
    "처럼",
    "보다",
    "마다",
    "에는",
    "에도",
    "이나",
    "라고",
    "라는",
    "들이",
    "들은",
    "들을",
    "한",
    "된",
    "할",
    "될",
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "의",
    "에",
    "로",
    "과",
    "와",
    "도",
    "만",
    "나",
    "랑",
    "야",
    "요",
    "지",
];

/// Korean words of questions that carry no information.
const STOP_KOREAN: &[&str] = &[
    "어떻게",
    "무엇",
    "무엇을",
    "무엇이",
    "무엇인가요",
    "뭐",
    "뭐가",
    "뭔가요",
    "뭐예요",
    "왜",
    "언제",
    "어디",
    "어디서",
    "어떤",
    "얼마나",
    "얼마",
    "몇",
    "있나요",
    "있습니까",
    "없나요",
    "하나요",
    "해야",
    "합니까",
    "되나요",
    "인가요",
    "경우",
    "때",
    "것",
    "수",
    "좀",
    "그",
    "이",
    "저",
    "알려줘",
    "알려주세요",
    "찾아줘",
    "가르쳐",
    "대해",
    "대한",
    "관련",
    "및",
    "있었나요",
    "있는지",
    "인지",
    "하는지",
    "우리",
    "사례",
    "무슨",
];

/// English words that carry no information.
const STOP_ENGLISH: &[&str] = &[
    "a", "an", "the", "of", "to", "in", "on", "at", "for", "and", "or", "is", "are", "was", "were",
    "be", "do", "does", "did", "how", "what", "which", "when", "where", "why", "who", "it", "its",
    "this", "that", "with", "by", "as", "i", "we", "my", "our", "me", "can", "should", "must",
    "from", "has", "have", "had", "there", "if", "not", "any", "you", "will", "after", "before",
    "than", "then",
];

/// Words that only carry a question, in both languages: general grammar.
const FILLERS: &[&str] = &[
    "뭘",
    "뭔가",
    "뭐야",
    "뭐지",
    "까닭",
    "이유",
    "방법",
    "정도",
    "해줘",
    "주세요",
    "있어",
    "있나",
    "있어요",
    "없나",
    "적",
    "건",
    "거",
    "걸",
    "게",
    "데",
    "쪽",
    "중",
    "후",
    "전",
    "다음",
    "지금",
    "이제",
    "그냥",
    "혹시",
    "먼저",
    "아직",
    "저희",
    "여기",
    "거기",
    "이거",
    "그거",
    "저거",
    "어느",
    "누가",
    "알려",
    "얼마까지",
    "얼마야",
    "얼마로",
    "어떻게돼",
    "되나",
    "돼",
    "돼요",
    "되요",
    "하나",
    "한번",
    "두고",
    "그랬어",
    "그런가",
    "왜그래",
    "해야해",
    "해야돼",
    "언제쯤",
    "사항",
    "내용",
    "기록",
    "이력",
    "있던",
    "했던",
    "됐어",
    "됐던",
    "어때",
    "어떤가",
    "어떻",
    "너무",
    "확",
    "쫙",
    "딱",
    "훨씬",
    "아무",
    "거의",
    "조금",
    "아주",
    "매우",
    "정말",
    "진짜",
    "더",
    "덜",
    "꼭",
    "바로",
    "이미",
    "벌써",
    "항상",
    "서로",
    "같이",
    "함께",
    "모두",
    "다",
    "전부",
    "약간",
    "대략",
    "좀",
    "확실히",
    "그래서",
    "그런데",
    "근데",
    "받고",
    "받아",
    "넣고",
    "넣어",
    "봐야",
    "보고",
    "보여",
    "나서",
    "되면",
    "하면",
    "하고",
    "해도",
    "주면",
    "쓰면",
    "괜찮은",
    "괜찮",
    "tell",
    "please",
    "much",
    "many",
    "would",
    "could",
    "about",
    "into",
    "out",
    "up",
    "so",
    "some",
    "also",
    "just",
    "got",
    "get",
    "been",
    "being",
    "them",
    "they",
    "he",
    "she",
    "his",
    "her",
    "your",
    "us",
    "no",
    "yes",
    "him",
    "ever",
    "one",
    "way",
    "between",
    "more",
    "most",
    "very",
];
