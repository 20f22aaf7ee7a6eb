//! The model of the remaining life, fitted on all bearings but the one that it is judged on.
//!
//! The growth from which a life is told ([`Grown`]) does not depend on the model, so every run is
//! judged once and every choice of the grid only asks again. A choice's worth is the PHM 2012 score
//! of the windows that are told a life; each bearing and each simulated life weighs the same. The
//! interval's width is then the one that the other bearings ask for, the simulated lives together
//! as one of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use pdm_edge::condition::{Grown, Judgement, LifeModel, MonitorSettings};

use super::runs::{femto_measured, interval_factor, phm_2012, simulated_life, stray};

mod ims;

/// Windows of a bearing that are asked at most, evenly over those that are told a life: a run of
/// 3,000 says no more than one of 200.
const MOST_ASKED: usize = 200;
/// Simulated lives of the fit, and their first seed: others than those of the benchmark.
const LIVES: u64 = 60;
const FIRST_LIFE: u64 = 50_000;
/// The simulated lives together.
const SIMULATED: &str = "simulated lives";

/// A window that is told a life.
#[derive(Debug, Clone)]
struct LifeQuestion {
    left_h: f64,
    age_h: f64,
    grown: Grown,
}

/// The result of a choice on a bearing.
#[derive(Debug, Clone)]
struct Judged {
    score: f64,
    strays: Vec<f64>,
}

type Bearings = BTreeMap<String, Vec<LifeQuestion>>;

/// Fits the model on every bearing but one, for each bearing.
///
/// # Errors
/// A recording or table exists but cannot be read.
pub fn report(data: &[PathBuf]) -> anyhow::Result<String> {
    let bearings = real(data)?;
    let simulated = simulated();
    let mut text = String::from("# Remaining life\n\nThe share alone:\n\n");
    // writing to a string cannot fail
    let _ = write(&mut text, &bearings, &simulated, shares());
    text.push_str("All three constants together:\n\n");
    let _ = write(&mut text, &bearings, &simulated, grid());
    Ok(text)
}

fn real(data: &[PathBuf]) -> anyhow::Result<Bearings> {
    let mut bearings = Bearings::new();
    for folder in data {
        for run in femto_measured(&folder.join("femto"))? {
            let name = format!("FEMTO {}", run.name);
            for axis in run.judged(&MonitorSettings::default()) {
                let asked = asked(&evenly(axis, run.period_h()));
                bearings.entry(name.clone()).or_default().extend(asked);
            }
        }
        for (name, judgements) in ims::judged(&folder.join("ims"))? {
            bearings.entry(name).or_default().extend(asked(&judgements));
        }
    }
    bearings.retain(|_, asked| !asked.is_empty());
    Ok(bearings.into_iter().map(|(name, asked)| (name, thinned(asked))).collect())
}

fn simulated() -> Vec<LifeQuestion> {
    let seeds = FIRST_LIFE..FIRST_LIFE + LIVES;
    let lives = seeds.flat_map(|seed| {
        let (life, judgements) = simulated_life(seed);
        let all = asked(&evenly(judgements, life.period_h));
        // the same number of every life
        let step = all.len().div_ceil(10).max(1);
        all.into_iter().step_by(step).collect::<Vec<_>>()
    });
    lives.collect()
}

/// Judgements with the hours of their windows since the run's begin.
fn evenly(judgements: Vec<Judgement>, period_h: f64) -> Vec<(f64, Judgement)> {
    (1_u32..).map(|window| f64::from(window) * period_h).zip(judgements).collect()
}

/// The windows of a run that are told a life.
fn asked(judgements: &[(f64, Judgement)]) -> Vec<LifeQuestion> {
    let end_h = judgements.last().map_or(0.0, |(hours, _)| *hours);
    let told = judgements.iter().filter(|(_, one)| one.rul.hours.is_some());
    let asked = told.filter_map(|(age_h, one)| {
        // the last window itself is asked as well
        let left_h = (end_h - age_h).max(1e-3 * age_h);
        Some(LifeQuestion { left_h, age_h: *age_h, grown: one.grown.clone()? })
    });
    asked.collect()
}

fn thinned(asked: Vec<LifeQuestion>) -> Vec<LifeQuestion> {
    let step = asked.len().div_ceil(MOST_ASKED).max(1);
    asked.into_iter().step_by(step).collect()
}

/// The choices: the share of the time watched, the level at which a damage begins to show, the
/// least share of the growth that is still ahead.
const SHARES: [f64; 9] = [0.1, 0.14, 0.2, 0.28, 0.4, 0.55, 0.8, 1.1, 1.5];
const VISIBLE: [f64; 6] = [0.05, 0.1, 0.15, 0.2, 0.3, 0.45];
const LEAST_AHEAD: [f64; 5] = [0.01, 0.02, 0.05, 0.1, 0.2];

/// The models that differ in the share alone.
fn shares() -> Vec<LifeModel> {
    SHARES.map(|share| LifeModel { share, ..LifeModel::default() }).to_vec()
}

/// Every combination of the three.
fn grid() -> Vec<LifeModel> {
    let mut models = Vec::new();
    for share in SHARES {
        for visible in VISIBLE {
            for least_ahead in LEAST_AHEAD {
                let shipped = LifeModel::default();
                models.push(LifeModel { share, visible, least_ahead, ..shipped });
            }
        }
    }
    models
}

fn judged(asked: &[LifeQuestion], model: &LifeModel) -> Judged {
    let (mut score, mut strays) = (0.0, Vec::with_capacity(asked.len()));
    for one in asked {
        let rul = one.grown.remaining(model);
        score += rul.hours.map_or(0.0, |hours| phm_2012(one.left_h, hours));
        let bounds = rul.ci_low_hours.zip(rul.ci_high_hours);
        // in half widths of the interval as it is before it is widened
        strays.extend(bounds.map(|(low, high)| model.widened * stray(one.left_h, low, high)));
    }
    Judged { score: score / asked.len().max(1) as f64, strays }
}

/// The score of "0.2 × age" on the same windows.
fn naive(asked: &[LifeQuestion]) -> f64 {
    let sum: f64 = asked.iter().map(|one| phm_2012(one.left_h, 0.2 * one.age_h)).sum();
    sum / asked.len().max(1) as f64
}

/// The results of every choice on every bearing; the simulated lives stand last.
struct Fit<'a> {
    models: Vec<LifeModel>,
    groups: Vec<(&'a str, &'a [LifeQuestion])>,
    judged: Vec<Vec<Judged>>,
}

impl<'a> Fit<'a> {
    fn of(bearings: &'a Bearings, simulated: &'a [LifeQuestion], models: Vec<LifeModel>) -> Self {
        let real = bearings.iter().map(|(name, asked)| (name.as_str(), asked.as_slice()));
        let groups: Vec<(&str, &[LifeQuestion])> = real.chain([(SIMULATED, simulated)]).collect();
        let one = |model| groups.iter().map(|(_, asked)| judged(asked, model)).collect();
        let judged = models.iter().map(one).collect();
        Self { models, groups, judged }
    }

    /// The best choice without a group, and the width that the others ask for.
    fn best(&self, left_out: Option<usize>) -> (usize, f64) {
        let others = |choice: usize| {
            let all = self.judged[choice].iter().enumerate();
            all.filter(move |(group, _)| Some(*group) != left_out).map(|(_, judged)| judged)
        };
        let simulated = self.groups.len() - 1;
        let weight = |group: usize| if group == simulated { LIVES as f64 } else { 1.0 };
        let worth = |choice: usize| -> f64 {
            let all = self.judged[choice].iter().enumerate();
            let others = all.filter(|(group, _)| Some(*group) != left_out);
            others.map(|(group, judged)| weight(group) * judged.score).sum()
        };
        let choices = 0..self.models.len();
        let best = choices.max_by(|a, b| worth(*a).total_cmp(&worth(*b))).unwrap_or(0);
        let strays: Vec<&[f64]> = others(best).map(|judged| judged.strays.as_slice()).collect();
        (best, interval_factor(&strays))
    }
}

/// Returns the share of the truths that lie within `factor` half widths.
fn held(strays: &[f64], factor: f64) -> f64 {
    strays.iter().filter(|stray| **stray <= factor).count() as f64 / strays.len().max(1) as f64
}

fn write(
    text: &mut String,
    bearings: &Bearings,
    simulated: &[LifeQuestion],
    models: Vec<LifeModel>,
) -> std::fmt::Result {
    let fit = Fit::of(bearings, simulated, models);
    writeln!(
        text,
        "| left out | windows asked | share | visible | least ahead | widened | score | \"0.2 × \
         age\" | held |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|"
    )?;
    let (mut scores, mut naives, mut holds, mut windows) = (0.0, 0.0, 0.0, (0.0, 0.0));
    for (group, (name, asked)) in fit.groups.iter().enumerate() {
        let (best, factor) = fit.best(Some(group));
        let judged = &fit.judged[best][group];
        let (naive, held) = (naive(asked), held(&judged.strays, factor));
        let row = row(&fit.models[best], factor);
        let score = judged.score;
        writeln!(
            text,
            "| {name} | {} | {row} | {score:.3} | {naive:.3} | {:.0} % |",
            asked.len(),
            100.0 * held
        )?;
        if *name != SIMULATED {
            scores += score;
            naives += naive;
            holds += held;
            windows = (windows.0 + held * asked.len() as f64, windows.1 + asked.len() as f64);
        }
    }
    let count = bearings.len().max(1) as f64;
    writeln!(
        text,
        "\nOn {} real bearings left out: score {:.3}, \"0.2 × age\" {:.3}; held {:.0} % on their \
         mean, {:.0} % of the windows asked\n",
        bearings.len(),
        scores / count,
        naives / count,
        100.0 * holds / count,
        100.0 * windows.0 / f64::max(windows.1, 1.0)
    )?;
    let (all, factor) = fit.best(None);
    writeln!(text, "All together choose: | {} |\n", row(&fit.models[all], factor))?;
    write_choices(text, &fit, all)
}

fn row(model: &LifeModel, factor: f64) -> String {
    let LifeModel { share, visible, least_ahead, .. } = model;
    format!("{share} | {visible} | {least_ahead} | {factor:.2}")
}

/// Writes the score of every choice on all bearings together: one constant differs at a time from
/// the best.
fn write_choices(text: &mut String, fit: &Fit<'_>, best: usize) -> std::fmt::Result {
    let real = fit.groups.len() - 1;
    let mean = |choice: usize| {
        fit.judged[choice][..real].iter().map(|judged| judged.score).sum::<f64>() / real as f64
    };
    let LifeModel { share, visible, least_ahead, .. } = fit.models[best];
    writeln!(
        text,
        "| share | visible | least ahead | score, real | score, simulated |\n|--:|--:|--:|--:|--:|"
    )?;
    for (choice, model) in fit.models.iter().enumerate() {
        let same = [
            model.share.total_cmp(&share).is_eq(),
            model.visible.total_cmp(&visible).is_eq(),
            model.least_ahead.total_cmp(&least_ahead).is_eq(),
        ];
        if same.iter().filter(|same| **same).count() < 2 {
            continue;
        }
        let simulated = fit.judged[choice][real].score;
        let LifeModel { share, visible, least_ahead, .. } = model;
        writeln!(
            text,
            "| {share} | {visible} | {least_ahead} | {:.3} | {simulated:.3} |",
            mean(choice)
        )?;
    }
    writeln!(text)
}
