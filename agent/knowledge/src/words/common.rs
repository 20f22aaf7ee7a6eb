//! Words that any talk is full of, in both languages: they say little of what a question is about, whether a
//! document has them or not. General vocabulary, taken from no set of test questions.
//!
//! They stay keywords of the search, unlike the fillers of [`super::grammar`]; the relevance gives them less
//! weight.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::grammar::stem;

/// Whether `word` (in lower case, without its ending) is one of them.
pub(crate) fn is_common(word: &str) -> bool {
    COMMON.contains(word)
}

static COMMON: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    ENGLISH.split_whitespace().map(stem).chain(KOREAN.split_whitespace()).collect()
});

/// Verbs, adjectives, adverbs and nouns without a thing behind them.
const ENGLISH: &str = "
    able about above across actually again against ago agree all almost alone along already also always am
    among and another answer anybody anyone anything anyway anywhere appear apart area around ask away bad be
    became because become begin began begun behind believe below beside best better big bit both bottom bring
    brought but buy call came can care carry case catch certain chance check choose clear close come common
    complete consider correct could count couple course day decide deep different difficult done down during
    each early easy either else end enough entire especially even ever every everybody everyone everything
    exactly expect explain extra fact fair far feel felt few find fine finish first five follow forget found
    four free front full fully further gave general give given go goes going gone good great group guess guy
    had half hand happen hard hardly have head hear heard held help here high hold hope idea important inside
    instead just keep kept kind knew know known large last late later lead learn least leave left less let
    like likely little long look lot low made mainly make man manage matter may maybe mean meant mention middle
    might mind mine more most move much must myself name near nearly need neither never new next nice nobody
    none nor nothing notice now number off often ok okay old once only onto open other otherwise ought ourselves
    outside over own part particular people per perhaps person place plan play point possible problem properly
    purpose put question quick quickly quite rather reach read ready real really reason recently remember right
    said same saw say says second see seem seen send sense sent seriously set seven several shall short should
    show side simple simply since single six small somebody someone something sometimes somewhere soon sort
    speak stand start stay step still stop straight such suppose sure take taken talk ten tend than thank
    their themselves then these thing think third those though thought three through throughout thus time
    today together told tomorrow too took top toward towards tried trouble true try turn twice two type under
    understand unless until upon use used useful usual usually want watch week well went were what whatever
    whenever whether while whole whose wish within without wonder word work world worse worst worth would wrong
    year yesterday yet your yours yourself zero";

/// Nouns, adverbs and forms of verbs, as they stand without their particle.
const KOREAN: &str = "
    가끔 가능 가장 가지 각각 갑니까 같은 같아 거죠 거지 건가 건데 걸까 결국 경우 계속 고민 곳 괜찮 굳이 그거 그걸 그게 그날
    그냥 그다음 그대로 그동안 그때 그래도 그러면 그런 그럼 그렇게 그만 그쪽 근처 급하 기본 기준 김에 나머지 나쁜 나온 나올
    나중 날 남은 내일 너무 네 네개 누구 늘 다른 다르 다섯 다시 단지 당장 대부분 대신 대체 더욱 덕분 도대체 도움 도중 동안 두 두개 두번
    둘 뒤 드디어 들 등 따라 따로 때문 또 똑같은 똑같이 많은 많이 말 말고 매번 매일 몇번 모든 모습 모양 못 무조건 문제 미리
    밖 반드시 방금 방식 번 번째 보니 보통 부분 분 비슷한 빨리 사람 사실 사용 상관 상태 상황 새 생각 설마 세 세개 세번 소용
    속 순간 순서 스스로 시작 시간 식 아까 아는 아니 아래 안 안되 앞 어제 어쩌다 언제 얘기 여기 여러 여러번 역시 열 예전 오늘 오래 오히려 옆 완전
    우선 원래 위 의미 이게 이날 이건 이것 이따 이때 이런 이렇게 이름 이만 이번 이상하 이전 이쪽 이하 일단 일부 일부러 일 입장 자기
    자꾸 자세히 자체 작년 작은 잘 잠깐 잠시 장소 저번 저렇게 적당히 절대 점 정확히 제가 제대로 제일 조심 종류 종종 좋은 좋을 주로 줄 중간
    중에 지난달 지난번 지난주 직접 진행 쪽이 차라리 차이 참 참고 처음 천천히 최근 최대 최소 추가 충분 큰 크게 작게 특별 특히 틀린
    편 필요 하루 하필 한개 한쪽 한참 해당 해야 해도 혼자 확인 회사 후딱 훨씬 힘들";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_known_by_their_stem_and_things_are_not_among_them() {
        assert!(["use", "happen", "usually", "그때", "처음"].into_iter().map(stem).all(is_common));
        assert!(!["gasket", "hardness", "씰", "베어링"].into_iter().map(stem).any(is_common));
    }
}
