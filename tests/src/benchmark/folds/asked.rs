//! Names where the stated speed is off, and against a sound record of the point, by rules that have
//! not seen the rig.
//!
//! Rules are fitted on the recordings as they are, as the shipped one is, and asked about the same
//! recordings otherwise. Invariant: the level from which a comb of the cage names a rolling element
//! is that of the other rigs, too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use pdm_dsp::diagnose::rule::{COMB_CONFIDENCE, Rule, grown_comb_db};
use pdm_dsp::diagnose::{Against, Past, past_of};
use pdm_dsp::{Evidence, Part, Request};
use pdm_shared::fault::Fault;
use pdm_shared::units::{Rpm, SampleRate};

use super::super::diagnosis::{DiagnosisOutcome, Scored};
use super::super::fit::{Sample, fit};
use super::super::pasts::{self, PastOf};
use super::super::recordings::Recording;
use super::super::speeds::{FACTORS, NameTally};
use super::{Fold, Measured, figures_against, generated, in_parallel, listed, score, windows};

mod learnt;

/// How far above the strongest record that is no ball a comb of the cage names one, dB: what the
/// shipped constant was chosen by.
const COMB_MARGIN_DB: f64 = 2.0;
/// Windows of a sound recording from which the past of windows is learnt.
const PAST_WINDOWS: usize = 6;

/// Every recording of the folders, once for each stated speed, then against its past; in windows of
/// a second where these are asked for.
///
/// # Errors
/// A folder or a file cannot be read.
pub fn tallies(folders: &[PathBuf], is_windows: bool) -> anyhow::Result<Vec<NameTally>> {
    let seen = Seen::measure(folders, is_windows)?;
    let mut tallies = Vec::new();
    for factor in FACTORS {
        tallies.push(seen.at_speed(factor)?);
    }
    tallies.push(seen.against_past()?);
    Ok(tallies)
}

/// Judges every recording whose point has a sound one: learns the speed from the sound one at each
/// factor times the stated speed, then judges the recording at the learnt speed, alone and against
/// the sound one.
///
/// # Errors
/// A folder or a file cannot be read.
pub fn learnt_speeds(folders: &[PathBuf], factors: &[f64]) -> anyhow::Result<Vec<NameTally>> {
    let seen = Seen::measure(folders, false)?;
    let mut tallies = Vec::new();
    for factor in factors {
        tallies.extend(seen.at_learnt_speed(*factor)?);
    }
    Ok(tallies)
}

/// The data on which the rules are fitted: the recordings as they are, and the generated records.
#[derive(Debug)]
pub struct Seen<'a> {
    folders: &'a [PathBuf],
    is_windows: bool,
    as_they_are: Vec<Measured>,
    generated: Vec<Sample>,
}

impl<'a> Seen<'a> {
    /// Measures every recording of the folders, or its windows of a second.
    ///
    /// # Errors
    /// A folder or a file cannot be read.
    pub fn measure(folders: &'a [PathBuf], is_windows: bool) -> anyhow::Result<Self> {
        let as_they_are = asked(folders, is_windows, |one, _| at_speed(one, 1.0, is_windows))?;
        let generated = if is_windows { windows::generated()? } else { generated()? };
        Ok(Self { folders, is_windows, as_they_are, generated })
    }

    /// Counts the names at `factor` times the stated speed.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn at_speed(&self, factor: f64) -> anyhow::Result<NameTally> {
        let ask = |one: &Recording, _: &[Recording]| at_speed(one, factor, self.is_windows);
        let is_stated = (factor - 1.0).abs() < f64::EPSILON;
        let asked = if is_stated {
            self.as_they_are.clone()
        } else {
            asked(self.folders, self.is_windows, ask)?
        };
        Ok(self.tally(format!("stated speed × {factor:.2}"), &asked))
    }

    /// Names against a sound record of the same point.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn against_past(&self) -> anyhow::Result<NameTally> {
        let ask = |one: &Recording, all: &[Recording]| against_past(one, all, self.is_windows);
        let asked = asked(self.folders, self.is_windows, ask)?;
        Ok(self.tally("against a sound record of the point".to_owned(), &asked))
    }

    /// Counts the names at the speed that a sound record of the point shows, where `factor` times
    /// its speed was stated: of the recordings alone, and against the sound ones.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn at_learnt_speed(&self, factor: f64) -> anyhow::Result<[NameTally; 2]> {
        let ask = |with_past: bool| {
            let ask =
                move |one: &Recording, all: &[Recording]| learnt::ask(one, all, factor, with_past);
            asked(self.folders, false, ask)
        };
        let how = |what: &str| format!("stated × {factor:.2}, speed learnt{what}");
        Ok([
            self.tally(how(""), &ask(false)?),
            self.tally(how(", against the sound record"), &ask(true)?),
        ])
    }

    fn tally(&self, how: String, asked: &[Measured]) -> NameTally {
        NameTally::of_scored(how, judged(&self.as_they_are, &self.generated, asked))
    }
}

/// The evidence that `ask` finds in each recording, with its truth.
fn asked(
    folders: &[PathBuf],
    is_windows: bool,
    ask: impl Fn(&Recording, &[Recording]) -> anyhow::Result<Vec<Evidence>> + Sync,
) -> anyhow::Result<Vec<Measured>> {
    let listed = listed(folders)?;
    let all: Vec<Recording> = listed.iter().map(|(one, _)| one.clone()).collect();
    let found = in_parallel(all.len(), |i| ask(&all[i], &all))?;
    let mut measured = Vec::new();
    for ((recording, label), found) in listed.into_iter().zip(found) {
        for (i, evidence) in found.into_iter().enumerate() {
            let window = if is_windows { format!(", window {i}") } else { String::new() };
            let name = format!("{} channel {}{window}", recording.file, recording.channel);
            let truth = label.truth.and_then(Part::of);
            let sample = Sample { evidence, truth, rig: label.rig.clone() };
            measured.push(Measured { name, label: label.clone(), sample });
        }
    }
    Ok(measured)
}

fn at_speed(recording: &Recording, factor: f64, is_windows: bool) -> anyhow::Result<Vec<Evidence>> {
    let (accel_m_s2, request) = recording.read()?;
    let stated = Request { speed: Rpm::new(request.speed.get() * factor)?, ..request };
    let cut = pieces(&accel_m_s2, &request, is_windows);
    Ok(cut.into_iter().map(|piece| figures_against(piece, &stated, Against::Nothing)).collect())
}

/// Returns the evidence against the past of a sound record of the point; empty where there is no
/// such record.
fn against_past(
    recording: &Recording,
    all: &[Recording],
    is_windows: bool,
) -> anyhow::Result<Vec<Evidence>> {
    let Some(Pair { judged, request, sound, rate, .. }) = pair(recording, all)? else {
        return Ok(Vec::new());
    };
    let past = past_in(&sound, rate, &request, is_windows);
    let against = past.as_ref().map_or(Against::Nothing, Against::Past);
    let cut = pieces(&judged, &request, is_windows);
    Ok(cut.into_iter().map(|piece| figures_against(piece, &request, against)).collect())
}

/// A record and a sound one of the same point.
struct Pair {
    judged: Vec<f64>,
    request: Request,
    sound: Vec<f64>,
    rate: SampleRate,
    /// The speed stated for the sound one.
    sound_speed: Rpm,
}

/// Returns the recording with its past; `None` where there is no sound one.
fn pair(recording: &Recording, all: &[Recording]) -> anyhow::Result<Option<Pair>> {
    let files: Vec<&str> = all.iter().map(|one| one.file.as_str()).collect();
    let (accel_m_s2, request) = recording.read()?;
    let (judged, sound, rate, sound_speed) =
        match pasts::past_of(&recording.file, recording.channel, &files) {
            None => return Ok(None),
            Some(PastOf::OwnHalf) => {
                let (first, second) = accel_m_s2.split_at(accel_m_s2.len() / 2);
                (second.to_vec(), first.to_vec(), request.rate, request.speed)
            }
            Some(PastOf::Recording(file, channel)) => {
                let of_point = |one: &&Recording| one.file == file && one.channel == channel;
                let Some(sound) = all.iter().find(of_point) else { return Ok(None) };
                let (sound_m_s2, sound_request) = sound.read()?;
                (accel_m_s2, sound_m_s2, sound_request.rate, sound_request.speed)
            }
        };
    Ok(Some(Pair { judged, request, sound, rate, sound_speed }))
}

/// Returns the past of a sound record, or the mean of its windows' pasts; a record that names a
/// part is no past.
fn past_in(sound: &[f64], rate: SampleRate, request: &Request, is_windows: bool) -> Option<Past> {
    let at_rate = Request { rate, ..*request };
    let looks = if is_windows {
        windows::cut(sound.len(), &at_rate, PAST_WINDOWS)
    } else {
        std::iter::once(0..sound.len()).collect()
    };
    looks
        .into_iter()
        .filter_map(|look| past_of(&sound[look], rate, request).ok())
        .filter(|(findings, _)| findings.dominant.is_none())
        .filter_map(|(_, past)| past)
        .reduce(|past, look| past.and(&look))
}

fn pieces<'a>(accel_m_s2: &'a [f64], request: &Request, is_windows: bool) -> Vec<&'a [f64]> {
    if !is_windows {
        return vec![accel_m_s2];
    }
    let cut = windows::cut(accel_m_s2.len(), request, windows::MOST_WINDOWS);
    cut.into_iter().map(|window| &accel_m_s2[window]).collect()
}

/// Judges the recordings `asked`, by a rule for each rig that was fitted on the others as they are.
fn judged(as_they_are: &[Measured], generated: &[Sample], asked: &[Measured]) -> Vec<Scored> {
    let keys: BTreeSet<&str> = asked.iter().map(|one| Fold::Rig.key(&one.label)).collect();
    let mut scored: BTreeMap<usize, Scored> = BTreeMap::new();
    for key in keys {
        let is_out = |one: &&Measured| Fold::Rig.key(&one.label) == key;
        let seen = as_they_are.iter().filter(|one| !is_out(one)).map(|one| &one.sample);
        let rule = fit(&seen.chain(generated).collect::<Vec<_>>());
        let comb_from_db = comb_from_db(asked.iter().filter(|one| !is_out(one)));
        for (i, one) in asked.iter().enumerate().filter(|(_, one)| is_out(one)) {
            scored.insert(i, with_comb(one, &rule, comb_from_db));
        }
    }
    scored.into_values().collect()
}

/// Returns the growth from which on the cage's comb names a rolling element, dB: above every record
/// that is no ball.
fn comb_from_db<'a>(others: impl Iterator<Item = &'a Measured>) -> f64 {
    others
        .filter(|one| one.label.truth != Some(Fault::Ball))
        .filter_map(|one| grown_comb_db(&one.sample.evidence))
        .fold(0.0, f64::max)
        + COMB_MARGIN_DB
}

/// The name by the rule, else by a comb of the cage that has grown.
fn with_comb(one: &Measured, rule: &Rule, comb_from_db: f64) -> Scored {
    let scored = score(one, rule);
    let grown = grown_comb_db(&one.sample.evidence).filter(|db| *db >= comb_from_db);
    if scored.named.is_some() || grown.is_none() {
        return scored;
    }
    Scored {
        named: Some(Fault::Ball),
        confidence: COMB_CONFIDENCE,
        damaged: Some([Fault::Ball; 2]),
        outcome: DiagnosisOutcome::of(one.label.truth, Some(Fault::Ball)),
        ..scored
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::labels::Label;
    use pdm_dsp::diagnose::fitted::FITTED;

    fn grown(truth: Option<Fault>, db: f64) -> Measured {
        let evidence = Evidence { new_slow_db: Some(db), ..Evidence::default() };
        let label = Label::generated("a rig".to_owned(), truth);
        let sample = Sample { evidence, truth: truth.and_then(Part::of), rig: label.rig.clone() };
        Measured { name: String::new(), label, sample }
    }

    /// Issue 35, point 3: the margin is that of the rigs that are not asked about.
    #[test]
    fn a_ball_is_named_by_a_comb_above_those_of_all_others_that_are_none() {
        let others =
            [grown(Some(Fault::OuterRace), 5.0), grown(None, 3.0), grown(Some(Fault::Ball), 20.0)];
        let from_db = comb_from_db(others.iter());
        assert!((from_db - 7.0).abs() < 1e-12, "{from_db}");
        let named = |db| with_comb(&grown(Some(Fault::Ball), db), &FITTED, from_db).outcome;
        assert_eq!(named(7.1), DiagnosisOutcome::Right);
        assert_eq!(named(6.9), DiagnosisOutcome::NotSure);
    }
}
