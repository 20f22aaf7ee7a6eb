//! A speed that is stated wrongly and learnt from a sound record of the same point.
//!
//! Invariant: the speed is learnt from the sound record alone, and the ratio is that of its own
//! stated speed, so two recordings at different speeds carry the same error.

use pdm_dsp::diagnose::Against;
use pdm_dsp::diagnose::speed::SpeedMean;
use pdm_dsp::{Evidence, Request};
use pdm_shared::units::Rpm;

use super::{Pair, figures_against, pair, past_in};
use crate::benchmark::recordings::Recording;

/// The evidence of a recording whose speed was learnt; of one without a sound record, at the stated
/// speed.
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
    let ratio = ratio(&pair, factor)?.unwrap_or(1.0);
    let request = Request { speed: Rpm::new(request.speed.get() * factor * ratio)?, ..*request };
    let of_sound = Request { speed: Rpm::new(sound_speed.get() * factor * ratio)?, ..request };
    let past = if with_past { past_in(sound, *rate, &of_sound, false) } else { None };
    let against = past.as_ref().map_or(Against::Nothing, Against::Past);
    Ok(vec![figures_against(judged, &request, against)])
}

/// The speed that the sound record shows, as a multiple of the stated one.
fn ratio(pair: &Pair, factor: f64) -> anyhow::Result<Option<f64>> {
    let speed = Rpm::new(pair.sound_speed.get() * factor)?;
    let stated = Request { rate: pair.rate, speed, ..pair.request };
    Ok(SpeedMean::of_record(&pair.sound, &stated).other(&stated))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::labels;
    use crate::benchmark::recordings;

    /// R-EDGE-4. Of the sound recordings whose stated speed is the measured one: with the speed
    /// stated 3 % off, what is learnt is the true one or nothing; with the right one nothing is.
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
                let other = SpeedMean::of_record(&accel_m_s2, &stated).other(&stated);
                let is_off = |ratio: &f64| (ratio * factor - 1.0).abs() > 0.006;
                if other.is_some_and(|ratio| is_off(&ratio)) {
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
