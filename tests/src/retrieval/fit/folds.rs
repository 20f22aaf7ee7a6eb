//! How well models of all sets but one answer that set, at the shipped cut-off.

use std::fmt::Write as _;

use pdm_knowledge::relevance::CUT_OFF;

use super::{Case, Fitted, Set, models};
use crate::retrieval::{Answer, DEPTH, Quality};

/// One line for each set.
pub(super) fn told(sets: &[(Set, Vec<Case>)]) -> anyhow::Result<String> {
    let mut told = String::new();
    for (left_out, cases) in sets {
        let others = sets.iter().filter(|(set, _)| set != left_out);
        let (one, any) = models(&others.flat_map(|(_, of_set)| of_set).collect::<Vec<_>>());
        let of = |cut_off: f64| {
            let answers = cases.iter().map(|case| answer(case, &one, &any, cut_off));
            Quality::of(&answers.collect::<Vec<_>>(), |_| true)
        };
        let (always, judged) = (of(0.0), of(f64::from(CUT_OFF)));
        writeln!(
            told,
            "// {left_out:?} by the other sets: recall@3 {:.3} and nDCG@3 {:.3} where nothing is refused; \
             {:.3} and {:.3} with {} of {} refused wrongly, {} of {} rightly",
            always.recall,
            always.ndcg,
            judged.recall,
            judged.ndcg,
            judged.refused_wrongly,
            judged.questions,
            judged.refused_rightly,
            judged.without_answer
        )?;
    }
    Ok(told)
}

fn answer(case: &Case, one: &Fitted, any: &Fitted, cut_off: f64) -> Answer {
    let mut found: Vec<(f64, &String)> =
        case.one.iter().zip(&case.ids).map(|((row, _), id)| (one.probability(row), id)).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    if any.probability(&case.any.0) < cut_off {
        found.clear();
    }
    let found = found.into_iter().take(DEPTH).map(|(_, id)| id.clone()).collect();
    Answer { question: case.question.clone(), found }
}
