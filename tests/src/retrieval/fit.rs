//! Fits the models of the relevance: that one chunk answers a question, and that any does; for
//! documents that name no questions that they answer, and for those that do. The latter count
//! twice, once where every second document has none: what a plant adds to the shipped documents may
//! name none.
//!
//! Logistic regression with a quadratic penalty on standardised evidence, by Newton's method. The
//! order of the chunks is fitted first ([`order`]), then the probability along it. Of what makes an
//! answer unlikely, the topics of elsewhere are a list that was written with these questions known,
//! so each question counts twice, once with its topics hidden: the model must judge without them
//! too.
//!
//! Prints the coefficients as `agent/knowledge/src/relevance/fitted.rs` holds them, for evidence as
//! it is, and how well models of all sets but one judge that set ([`folds`]).

use std::fmt::Write as _;

use pdm_knowledge::Knowledge;
use pdm_knowledge::relevance::{BY_MODEL, ELSEWHERE, Evidence, ONE, SHARED};
use pdm_knowledge::store::Hit;

use super::{AskedLines, KnowledgeSettings, Question, Set, filled_by};

mod folds;
mod order;

/// Weight of the penalty. The refusals on `retrieval-dev.toml`, by a model of that set and half of
/// the first, are the same from 0.1 to 1.
const PENALTY: f64 = 1.0;
/// Newton's steps; the sixth changes nothing any more.
const STEPS: usize = 25;

/// One example: its evidence, and whether it answers.
type Example = (Vec<f64>, bool);

/// How often examples of either kind count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Balance {
    /// Each as often as it is there: of the chunks most do not answer.
    AsThere,
    /// Both kinds alike: a question is as likely to have an answer as not.
    Even,
}

/// A model: bias and weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    bias: f64,
    weights: Vec<f64>,
}

impl Fitted {
    fn log_odds(&self, row: &[f64]) -> f64 {
        let sum: f64 = self.weights.iter().zip(row).map(|(weight, value)| weight * value).sum();
        self.bias + sum
    }

    fn probability(&self, row: &[f64]) -> f64 {
        1.0 / (1.0 + (-self.log_odds(row)).exp())
    }
}

/// A question with its candidates and the evidence.
struct Case {
    question: Question,
    ids: Vec<String>,
    /// One example for each candidate: the evidence of one that names questions, then that of one
    /// that names none, whichever it is not being 0.
    one: Vec<Example>,
    evidence: Evidence,
}

impl Case {
    /// The evidence that any candidate answers, where `order` judges them one by one.
    fn any(&self, order: &Fitted) -> Example {
        let odds: Vec<f32> = self.one.iter().map(|(row, _)| order.log_odds(row) as f32).collect();
        let row = self.evidence.any(&odds).into_iter().map(f64::from).collect();
        (row, !self.question.relevant.is_empty())
    }
}

/// The questions of all sets with their evidence.
type Cases = Vec<(Set, Vec<Case>)>;

/// Fits the models to the questions of all sets, by knowledge bases that `settings` makes; the text
/// to print.
///
/// # Errors
/// A document is refused, or the search fails.
pub async fn fit(
    settings: impl Fn(&str) -> KnowledgeSettings,
    sets: &[(Set, Vec<Question>)],
    with_model: bool,
) -> anyhow::Result<String> {
    let end = if with_model { "_AND_MODEL" } else { "" };
    let bare = cases(settings("none"), AskedLines::None, sets, with_model).await?;
    let mut told = fitted("WORDS", end, &bare, &Vec::new())?;
    let all = cases(settings("all"), AskedLines::All, sets, with_model).await?;
    let half = cases(settings("half"), AskedLines::EverySecond, sets, with_model).await?;
    told.push_str(&fitted("QUESTIONS", end, &all, &half)?);
    Ok(told)
}

async fn cases(
    settings: KnowledgeSettings,
    asked: AskedLines,
    sets: &[(Set, Vec<Question>)],
    with_model: bool,
) -> anyhow::Result<Cases> {
    let knowledge = filled_by(settings, asked).await?;
    let mut cases = Vec::new();
    for (set, questions) in sets {
        let mut of_set = Vec::new();
        for question in questions {
            of_set.push(case(&knowledge, question, with_model).await?);
        }
        cases.push((*set, of_set));
    }
    Ok(cases)
}

/// The constants of a pair, and how well models of the other sets judge each set, as it is and
/// `beside`.
fn fitted(name: &str, end: &str, cases: &Cases, beside: &Cases) -> anyhow::Result<String> {
    let all: Vec<&Case> = cases.iter().chain(beside).flat_map(|(_, of_set)| of_set).collect();
    let mut told = constants(&all, &format!("{name}{end}"))?;
    let judged = folds::judged(cases, &[cases, beside]);
    told.push_str(&folds::cut_offs(&judged)?);
    told.push_str(&folds::line_of_each_set(&judged)?);
    if !beside.is_empty() {
        told.push_str("// the same where every second document names no questions:\n");
        let judged = folds::judged(beside, &[cases, beside]);
        told.push_str(&folds::cut_offs(&judged)?);
        told.push_str(&folds::line_of_each_set(&judged)?);
    }
    Ok(told)
}

async fn case(
    knowledge: &Knowledge,
    question: &Question,
    with_model: bool,
) -> anyhow::Result<Case> {
    let (found, evidence) = knowledge.evidence(question.collection, &question.text).await?;
    let row = |row: &[f32]| {
        let is_used = |at: usize| with_model || !BY_MODEL.contains(&at);
        let used = |(at, value): (usize, &f32)| if is_used(at) { f64::from(*value) } else { 0.0 };
        row.iter().enumerate().map(used).collect::<Vec<f64>>()
    };
    let named: Vec<bool> = found.iter().map(|hit| !hit.chunk.about.asked.is_empty()).collect();
    let rows = found.iter().zip(&evidence.one).zip(&named);
    let example = |((hit, of), named): ((&Hit, &Vec<f32>), &bool)| {
        (apart(row(of), *named), question.relevant.contains(&hit.chunk.id))
    };
    Ok(Case {
        one: rows.map(example).collect(),
        ids: found.into_iter().map(|hit| hit.chunk.id).collect(),
        question: question.clone(),
        evidence,
    })
}

/// The evidence of a chunk, apart by whether it names questions, and 1 where it does not.
fn apart(row: Vec<f64>, named: bool) -> Vec<f64> {
    let none = vec![0.0; row.len()];
    let (first, second) = if named { (row, none) } else { (none, row) };
    [first, second, vec![f64::from(u8::from(!named))]].concat()
}

/// The models that one chunk answers and that any does.
fn models(cases: &[&Case]) -> (Fitted, Fitted) {
    let rows: Vec<&[Example]> = cases.iter().map(|case| case.one.as_slice()).collect();
    let one = along(&rows);
    let any = cases.iter().map(|case| case.any(&one));
    let twice: Vec<Example> = any.flat_map(|example| [hidden(&example), example]).collect();
    (one, train(&twice, Balance::Even))
}

fn constants(cases: &[&Case], name: &str) -> anyhow::Result<String> {
    let (one, any) = models(cases);
    let mut told = String::new();
    let (named, rest) = one.weights.split_at(ONE.len());
    let (unnamed, shift) = rest.split_at(ONE.len());
    let shift = one.bias + shift.first().copied().unwrap_or_default();
    let unnamed = Fitted { bias: shift, weights: unnamed.to_vec() };
    // where none names questions, there is nothing to fit of those that do
    let rows = || cases.iter().flat_map(|case| &case.one);
    let has_named = rows().any(|(row, _)| row.last() == Some(&0.0));
    let named = Fitted { bias: one.bias, weights: named.to_vec() };
    let kind = if has_named { "QuestionModels" } else { "WordModels" };
    writeln!(told, "pub const {name}: {kind} = {kind} {{")?;
    let named = has_named.then_some(("named", named));
    for (name, model) in named.into_iter().chain([("unnamed", unnamed), ("any", any)]) {
        let weights: Vec<String> =
            model.weights.iter().map(|weight| format!("{weight:.4}")).collect();
        let (bias, weights) = (model.bias, weights.join(", "));
        writeln!(told, "    {name}: Model {{ bias: {bias:.4}, weights: &[{weights}] }},")?;
    }
    writeln!(told, "}};")?;
    Ok(told)
}

/// The example without its topics of elsewhere.
fn hidden((row, answers): &Example) -> Example {
    let mut row = row.clone();
    for at in ELSEWHERE {
        if let Some(topics) = row.get_mut(at) {
            *topics = 0.0;
        }
    }
    (row, *answers)
}

/// The model that one chunk answers: the order among the chunks of a question, then the probability
/// by the place along that order and by what all chunks of the question share.
fn along(questions: &[&[Example]]) -> Fitted {
    let weights = order::weights(questions);
    let place = |row: &[f64]| row.iter().zip(&weights).map(|(value, weight)| value * weight).sum();
    let examples: Vec<Example> = questions
        .iter()
        .flat_map(|rows| rows.iter())
        .map(|(row, answers)| {
            let shared = SHARED.iter().map(|at| row[*at] + row[*at + ONE.len()]);
            (std::iter::once(place(row)).chain(shared).collect(), *answers)
        })
        .collect();
    let scale = train(&examples, Balance::AsThere);
    let mut weights: Vec<f64> = weights.iter().map(|weight| weight * scale.weights[0]).collect();
    for (at, weight) in SHARED.iter().zip(&scale.weights[1..]) {
        weights[*at] += weight;
        weights[*at + ONE.len()] += weight;
    }
    Fitted { bias: scale.bias, weights }
}

/// Fits a model.
fn train(examples: &[Example], balance: Balance) -> Fitted {
    let width = examples.first().map_or(0, |(row, _)| row.len());
    let count = examples.len().max(1) as f64;
    let mean: Vec<f64> =
        (0..width).map(|at| examples.iter().map(|(row, _)| row[at]).sum::<f64>() / count).collect();
    let spread: Vec<f64> = (0..width)
        .map(|at| {
            let squares = examples.iter().map(|(row, _)| (row[at] - mean[at]).powi(2)).sum::<f64>();
            (squares / count).sqrt().max(1e-9)
        })
        .collect();
    let with = examples.iter().filter(|(_, answers)| *answers).count() as f64;
    let even = with / (count - with).max(1.0);
    let rows: Vec<Row> = examples
        .iter()
        .map(|(row, answers)| {
            let scaled = (0..width).map(|at| (row[at] - mean[at]) / spread[at]);
            let weight = if balance == Balance::Even && !answers { even } else { 1.0 };
            let evidence = std::iter::once(1.0).chain(scaled).collect();
            Row { evidence, wanted: f64::from(u8::from(*answers)), weight }
        })
        .collect();
    let mut solution = vec![0.0; width + 1];
    for _ in 0..STEPS {
        step(&rows, &mut solution);
    }
    let weights: Vec<f64> = (0..width).map(|at| solution[at + 1] / spread[at]).collect();
    let shift: f64 = weights.iter().zip(&mean).map(|(weight, mean)| weight * mean).sum();
    Fitted { bias: solution[0] - shift, weights }
}

/// One example as the fit sees it.
struct Row {
    /// 1, then the standardised evidence.
    evidence: Vec<f64>,
    wanted: f64,
    weight: f64,
}

/// One step of Newton's method.
#[allow(clippy::needless_range_loop, reason = "rows and columns of one matrix, by their index")]
fn step(rows: &[Row], solution: &mut [f64]) {
    let size = solution.len();
    let mut gradient = vec![0.0; size];
    let mut curvature = vec![vec![0.0; size]; size];
    for Row { evidence: row, wanted, weight } in rows {
        let sum: f64 = row.iter().zip(solution.iter()).map(|(x, w)| x * w).sum();
        let probability = 1.0 / (1.0 + (-sum).exp());
        let slope = weight * (probability * (1.0 - probability)).max(1e-9);
        for i in 0..size {
            gradient[i] += weight * (probability - wanted) * row[i];
            for j in 0..size {
                curvature[i][j] += slope * row[i] * row[j];
            }
        }
    }
    for at in 1..size {
        gradient[at] += 2.0 * PENALTY * solution[at];
        curvature[at][at] += 2.0 * PENALTY;
    }
    curvature[0][0] += 1e-9;
    let change = solved(curvature, gradient);
    for (value, change) in solution.iter_mut().zip(change) {
        *value -= change.clamp(-2.0, 2.0);
    }
}

/// Solves a symmetric system by elimination with pivots.
#[allow(clippy::needless_range_loop, reason = "rows and columns of one matrix, by their index")]
fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for at in 0..size {
        let pivot = (at..size).max_by(|a, b| matrix[*a][at].abs().total_cmp(&matrix[*b][at].abs()));
        let pivot = pivot.unwrap_or(at);
        matrix.swap(at, pivot);
        right.swap(at, pivot);
        for below in at + 1..size {
            let factor = matrix[below][at] / matrix[at][at];
            for column in at..size {
                matrix[below][column] -= factor * matrix[at][column];
            }
            right[below] -= factor * right[at];
        }
    }
    let mut out = vec![0.0; size];
    for at in (0..size).rev() {
        let known: f64 = (at + 1..size).map(|column| matrix[at][column] * out[column]).sum();
        out[at] = (right[at] - known) / matrix[at][at];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_learns_what_tells_examples_apart() {
        let examples: Vec<Example> =
            (0..40).map(|at| (vec![f64::from(at), f64::from(at % 3)], at >= 20)).collect();
        let model = train(&examples, Balance::AsThere);
        assert!(model.probability(&[35.0, 1.0]) > 0.9);
        assert!(model.probability(&[4.0, 1.0]) < 0.1);
    }
}
