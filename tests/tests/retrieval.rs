//! The knowledge base answers the labelled questions well enough, and both searches together are
//! better than either alone. `cargo run -p pdm-tests --bin retrieval` prints the figures.

use pdm_knowledge::Mode;
use pdm_tests::retrieval::{Quality, Set, Split, ask, filled, questions};

/// R-KB-4.
#[tokio::test]
async fn fused_search_answers_the_questions_and_is_not_below_either_alone() {
    let folder = tempfile::tempdir().expect("folder");
    let knowledge = filled(folder.path()).await.expect("documents");
    let questions = questions(Set::Main).expect("questions");
    assert!(questions.len() >= 60, "{} questions", questions.len());
    let mut of = Vec::new();
    for mode in [Mode::Keyword, Mode::Vector, Mode::Nearest] {
        let answers = ask(&knowledge, mode, &questions).await.expect("answers");
        of.push(Quality::of(&answers, |_all| true));
        if mode == Mode::Nearest {
            let held = Quality::of(&answers, |question| question.split == Split::Hold);
            assert!(held.recall >= 0.95 && held.ndcg >= 0.90, "held back: {held:?}");
        }
    }
    let [keyword, vector, fused] = of.as_slice() else { panic!("three modes") };
    assert!(fused.recall >= 0.95 && fused.ndcg >= 0.90, "{fused:?}");
    assert!(fused.recall >= keyword.recall.max(vector.recall), "{of:?}");
    assert!(fused.ndcg >= keyword.ndcg.max(vector.ndcg), "{of:?}");
}

/// R-KB-4: a search says that nothing was found, and seldom where something is. The models were
/// fitted to these questions; the held-back sets are measured by `--bin retrieval`.
#[tokio::test]
async fn a_question_that_no_document_answers_finds_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let knowledge = filled(folder.path()).await.expect("documents");
    let questions = questions(Set::Dev).expect("questions");
    let answers = ask(&knowledge, Mode::Fused, &questions).await.expect("answers");
    let quality = Quality::of(&answers, |_all| true);
    assert!(quality.refused_rightly * 4 >= quality.without_answer * 3, "{quality:?}");
    assert!(quality.refused_wrongly * 10 <= quality.questions, "{quality:?}");
    assert!(quality.recall >= 0.85 && quality.ndcg >= 0.80, "{quality:?}");
}

/// The labels name existing chunks: otherwise a renamed section would lower the figures unnoticed.
#[tokio::test]
async fn every_label_is_a_chunk_of_its_collection() {
    let folder = tempfile::tempdir().expect("folder");
    let knowledge = filled(folder.path()).await.expect("documents");
    for question in questions(Set::Main).expect("questions") {
        for id in &question.relevant {
            let document = id.split('#').next().unwrap_or(id);
            let filter = pdm_knowledge::Filter::document(document);
            let hits = knowledge
                .search_by(Mode::Vector, question.collection, "베어링 결함", &filter, 10)
                .await
                .expect("search");
            assert!(hits.iter().any(|hit| hit.chunk.id == *id), "{id}: {}", question.text);
        }
    }
}
