//! A speed that is stated wrongly and learnt from a sound record of the same point.
//!
//! Invariant: the speed is learnt from the sound record alone, and the ratio is that of its own
//! stated speed, so two recordings at different speeds carry the same error.

use pdm_dsp::diagnose::speed::SpeedFit;
use pdm_dsp::diagnose::{Against, taught_by};
use pdm_dsp::{Evidence, Request};
use pdm_shared::units::Rpm;

use super::{Pair, figures_against, pair};
use crate::benchmark::recordings::Recording;

/// The evidence of a recording whose speed was learnt; at the stated speed where the recording
/// shows its own, or has no sound one.
pub(super) fn ask(
    recording: &Recording,
    all: &[Recording],
    factor: f64,
    with_past: bool,
) -> anyhow::Result<Vec<Evidence>> {
    let Some(pair) = pair(recording, all)? else {
        let (accel_m_s2, request) = recording.read()?;
        let speed = Rpm::new(request.speed.get() * factor)?;
        let request = Request { speed, ..request };
        return Ok(vec![figures_against(&accel_m_s2, &request, Against::Nothing)]);
    };
    let Pair { judged, request, sound, rate, sound_speed } = &pair;
    let of_sound = Request { speed: Rpm::new(sound_speed.get() * factor)?, ..*request };
    let taught = taught_by(sound, *rate, &of_sound).ok();
    let taught = taught.filter(|taught| taught.findings.dominant.is_none());
    let past = taught.as_ref().and_then(|taught| taught.past.as_ref()).filter(|_| with_past);
    let against = past.map_or(Against::Nothing, Against::Past);
    let stated = Request { speed: Rpm::new(request.speed.get() * factor)?, ..*request };
    let evidence = figures_against(judged, &stated, against);
    let ratio = taught.as_ref().and_then(|taught| taught.speed_ratio);
    let Some(ratio) = ratio.filter(|_| evidence.speed == SpeedFit::Open) else {
        return Ok(vec![evidence]);
    };
    let learnt = Request { speed: Rpm::new(stated.speed.get() * ratio)?, ..stated };
    Ok(vec![figures_against(judged, &learnt, against)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::labels;
    use crate::benchmark::recordings;

    /// Issue 35, point 2. Of the sound recordings whose stated speed is the measured one: with the
    /// speed stated 3 % off, what is learnt is the true one, to a line of the record, or nothing;
    /// those of CWRU and MFPT teach it.
    #[test]
    fn what_a_sound_recording_teaches_is_its_own_speed() {
        let test = "what_a_sound_recording_teaches_is_its_own_speed";
        let Some(data) = pdm_harness::data_dir(test) else { return };
        let labels = labels::read_labels(&data).expect("labels");
        let is_known = |one: &Recording| {
            let is_measured =
                ["cwru/", "mfpt/", "hitsm/"].iter().any(|rig| one.file.starts_with(rig));
            is_measured && labels[&one.file].truth.is_none()
        };
        let listed = recordings::list(&data).expect("the manifest");
        let (mut asked, mut wrong) = (0, Vec::new());
        for one in listed.iter().filter(|one| is_known(one)) {
            let (accel_m_s2, request) = one.read().expect("readable");
            for factor in [0.97, 1.00, 1.03] {
                let speed = Rpm::new(request.speed.get() * factor).expect("valid");
                let stated = Request { speed, ..request };
                let taught = taught_by(&accel_m_s2, stated.rate, &stated).expect("measurable");
                let other = taught.speed_ratio;
                let line = request.rate.get() / accel_m_s2.len() as f64 / request.speed.shaft_hz();
                let is_off = |ratio: &f64| (ratio * factor - 1.0).abs() > line.max(0.006);
                if other.is_some_and(|ratio| is_off(&ratio)) {
                    wrong.push((one.file.clone(), one.channel, factor, other));
                }
                let is_stated = (factor - 1.0).abs() < 0.001;
                if !is_stated && !one.file.starts_with("hitsm/") && other.is_none() {
                    wrong.push((one.file.clone(), one.channel, factor, other));
                }
                asked += 1;
                println!("{} channel {} at {factor}: {other:?}", one.file, one.channel);
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!(asked >= 9, "{asked} questions");
    }
}
