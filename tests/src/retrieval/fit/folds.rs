//! Measures how well models of all sets but one answer that set: the likely quality on a set that
//! nobody has seen.

use std::fmt::Write as _;

use pdm_knowledge::relevance::CUT_OFF;

use super::{Case, Cases, Set, hidden, models};
use crate::retrieval::{DEPTH, Quality, RetrievalAnswer};

/// A question of a set, judged by models of the other sets.
pub(super) struct Judged {
    /// The hits, with none of them refused.
    answer: RetrievalAnswer,
    /// Probability that any candidate answers.
    answered: f64,
    /// The probability with its topics of elsewhere hidden.
    hidden: f64,
}

/// Judges every set by the models of the others, fitted to those of `fitted_to`.
pub(super) fn judged(sets: &Cases, fitted_to: &[&Cases]) -> Vec<(Set, Vec<Judged>)> {
    let of_set = |(left_out, cases): &(Set, Vec<Case>)| {
        let sets = fitted_to.iter().flat_map(|sets| sets.iter());
        let others = sets.filter(|(set, _)| set != left_out);
        let (one, any) = models(&others.flat_map(|(_, of_set)| of_set).collect::<Vec<_>>());
        let judge = |case: &Case| {
            let mut found: Vec<(f64, &String)> = case
                .one
                .iter()
                .zip(&case.ids)
                .map(|((row, _), id)| (one.probability(row), id))
                .collect();
            found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
            let found: Vec<String> =
                found.into_iter().take(DEPTH).map(|(_, id)| id.clone()).collect();
            let example = case.any(&one);
            Judged {
                answer: RetrievalAnswer { question: case.question.clone(), found },
                answered: any.probability(&example.0),
                hidden: any.probability(&hidden(&example).0),
            }
        };
        (*left_out, cases.iter().map(judge).collect())
    };
    sets.iter().map(of_set).collect()
}

/// The refusals of all sets, by cut-off.
pub(super) fn cut_offs(sets: &[(Set, Vec<Judged>)]) -> anyhow::Result<String> {
    let all = || sets.iter().flat_map(|(_, of_set)| of_set);
    let (with, without): (Vec<_>, Vec<_>) =
        all().partition(|judged| !judged.answer.question.relevant.is_empty());
    let mut told = String::new();
    for percent in (10..=60).step_by(5) {
        let cut_off = f64::from(percent) / 100.0;
        let below = |of: &[&Judged]| of.iter().filter(|judged| judged.answered < cut_off).count();
        let hidden = without.iter().filter(|judged| judged.hidden < cut_off).count();
        let (wrongly, rightly) = (below(&with), below(&without));
        writeln!(
            told,
            "// cut-off {cut_off}: {wrongly} of {} refused wrongly, {rightly} of {} rightly, \
             {hidden} where the topics are hidden",
            with.len(),
            without.len()
        )?;
    }
    Ok(told)
}

/// One line for each set, at the shipped cut-off.
pub(super) fn line_of_each_set(sets: &[(Set, Vec<Judged>)]) -> anyhow::Result<String> {
    let mut told = String::new();
    for (set, of_set) in sets {
        let of = |cut_off: f64| {
            let answers = of_set.iter().map(|judged| {
                let refused = judged.answered < cut_off;
                let found = if refused { Vec::new() } else { judged.answer.found.clone() };
                RetrievalAnswer { found, ..judged.answer.clone() }
            });
            Quality::of(&answers.collect::<Vec<_>>(), |_| true)
        };
        let (always, judged) = (of(0.0), of(f64::from(CUT_OFF)));
        writeln!(
            told,
            "// {set:?} by the other sets: recall@3 {:.3} and nDCG@3 {:.3} where nothing is \
             refused; {:.3} and {:.3} with {} of {} refused wrongly, {} of {} rightly",
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
