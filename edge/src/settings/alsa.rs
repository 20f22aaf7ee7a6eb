//! `[source.alsa]`: an audio interface, and the volts of its full scale.

use std::time::Duration;

use pdm_service::config::ConfigError;
use serde::Deserialize;

use super::live::{SourceContext, padded};
use crate::source::alsa::AlsaSettings;
use crate::source::frames::{Encoding, FrameFormat};
use crate::source::{Calibration, DEFAULT_RATE_TOLERANCE, SourceInput};

/// Length of a block where none is configured, s: one window of the usual length.
const DEFAULT_BLOCK_S: f64 = 1.0;

/// Silence after which the device counts as lost where none is configured: a driver gives up after
/// the same time.
const DEFAULT_SILENCE: Duration = Duration::from_secs(10);

/// The formats, and ALSA's own names.
const FORMATS: [(&str, &str, Encoding); 3] = [
    ("s16", "S16_LE", Encoding::I16),
    ("s24_3le", "S24_3LE", Encoding::I24),
    ("s32", "S32_LE", Encoding::I32),
];

/// Devices of ALSA that resample, mix or scale before they hand samples out.
const FALSIFYING: [&str; 7] =
    ["plughw", "plug", "default", "sysdefault", "pulse", "pipewire", "softvol"];

/// Largest full scale that is believed, V: line inputs have a few, measuring inputs 10 or 20.
const MOST_VOLTS: f64 = 200.0;

/// `[source.alsa]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AlsaTable {
    /// Name of the device, such as `hw:CARD=Digiducer,DEV=0`.
    device: String,
    /// `s16`, `s24_3le` or `s32`.
    format: Option<String>,
    /// Peak voltage of the largest number, V.
    full_scale_v: Option<f64>,
    /// Channels of the device; the highest measured one plus one if left out.
    channels: Option<usize>,
    block_s: Option<f64>,
    silence_s: Option<f64>,
    rate_tolerance_percent: Option<f64>,
}

impl AlsaTable {
    /// The device as a source.
    pub(super) fn meant(&self, context: &SourceContext<'_>) -> Result<SourceInput, ConfigError> {
        let key = |name: &str| format!("{}.alsa.{name}", context.key);
        self.check_device(context)?;
        let Some(sample_rate) = context.rate.filter(|rate| rate.get().fract() == 0.0) else {
            let rate = format!("{}.rate_hz", context.key);
            let allowed = "the rate of the device, whole Hz, such as 48000.0";
            return Err(context.origin.refuse(&rate, "left out, or not whole", allowed));
        };
        let encoding = self.encoding(context)?;
        let channels = self.channels.unwrap_or(context.channels);
        if channels < context.channels {
            let allowed = format!("{} or more: that many are measured", context.channels);
            return Err(context.origin.refuse(&key("channels"), channels, allowed));
        }
        let block_s = self.block_s.unwrap_or(DEFAULT_BLOCK_S);
        let calibrations = self.calibrations(context, encoding)?;
        let format = FrameFormat {
            channels,
            sample_rate,
            encoding,
            block_samples: (block_s * sample_rate.get()).round().max(0.0) as usize,
            calibrations: padded(&calibrations, channels),
        };
        format.check().map_err(|error| {
            context.origin.refuse(&key("channels or block_s"), "out of range", error.to_string())
        })?;
        let rate_tolerance = match self.rate_tolerance_percent {
            None => DEFAULT_RATE_TOLERANCE,
            Some(percent) if percent > 0.0 && percent <= 50.0 => percent / 100.0,
            Some(percent) => {
                let allowed = "above 0 to 50 percent";
                return Err(context.origin.refuse(
                    &key("rate_tolerance_percent"),
                    percent,
                    allowed,
                ));
            }
        };
        let silence =
            context.origin.seconds(&key("silence_s"), self.silence_s, DEFAULT_SILENCE, 0.1)?;
        let device = self.device.clone();
        let settings = AlsaSettings { device, format, rate_tolerance, silence };
        Ok(SourceInput::Alsa(Box::new(settings)))
    }

    /// Refuses a device that changes the samples.
    fn check_device(&self, context: &SourceContext<'_>) -> Result<(), ConfigError> {
        let first = self.device.split([':', ',']).next().unwrap_or_default();
        let is_falsifying = FALSIFYING.contains(&first);
        if !first.is_empty() && !is_falsifying && !self.device.contains('\0') {
            return Ok(());
        }
        let allowed = "the device itself, such as \"hw:CARD=Digiducer,DEV=0\" (`arecord -L` lists \
                       them): plughw, default and sound servers resample, mix or scale";
        let key = format!("{}.alsa.device", context.key);
        Err(context.origin.refuse(&key, &self.device, allowed))
    }

    fn encoding(&self, context: &SourceContext<'_>) -> Result<Encoding, ConfigError> {
        let text = self.format.as_deref().unwrap_or("left out");
        let known = FORMATS.iter().find(|(name, own, _)| *name == text || *own == text);
        known.map(|(_, _, encoding)| *encoding).ok_or_else(|| {
            let allowed = "\"s16\", \"s24_3le\" or \"s32\", as the device has it (`arecord \
                           --dump-hw-params -D DEVICE`)";
            context.origin.refuse(&format!("{}.alsa.format", context.key), text, allowed)
        })
    }

    /// The calibrations: volts of the full scale and the sensor's sensitivity, or what one count
    /// is.
    fn calibrations(
        &self,
        context: &SourceContext<'_>,
        encoding: Encoding,
    ) -> Result<Vec<Calibration>, ConfigError> {
        let key = format!("{}.alsa.full_scale_v", context.key);
        let Some(volts) = self.full_scale_v else {
            if context.calibrations.iter().all(Calibration::states_scale) {
                return Ok(context.calibrations.clone());
            }
            let allowed = "the peak voltage of the full scale, with sensitivity_mv_per_g; or unit \
                           and scale of one count: a sound card says neither";
            return Err(context.origin.refuse(&key, "left out", allowed));
        };
        if !(volts > 0.0 && volts <= MOST_VOLTS) {
            let allowed = format!("volts above 0, up to {MOST_VOLTS}");
            return Err(context.origin.refuse(&key, volts, allowed));
        }
        let is_voltage = |one: &Calibration| one.is_voltage() && !one.states_scale();
        if !context.calibrations.iter().all(is_voltage) {
            let allowed = "with sensitivity_mv_per_g of the source or of each channel, and without \
                           scale, which would be the volts of a count once more";
            return Err(context.origin.refuse(&key, volts, allowed));
        }
        let counts = encoding.full_scale().unwrap_or(1.0);
        let scale = volts * 1000.0 / counts;
        Ok(context.calibrations.iter().map(|one| one.with_scale(scale)).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::settings::parse;
    use crate::source::SourceInput;
    use pdm_shared::units::M_S2_PER_G;

    fn text(lines: &str, table: &str) -> String {
        format!(
            "gateway_id = \"gw-01\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n[[source]]\nname = \
             \"n\"\n\
             kind = \"alsa\"\n{lines}\n[source.alsa]\n{table}\n[[source.channel]]\nequipment = \
             \"P\"\n\
             bearing = \"DE\"\nrpm = 1500.0\nbearing_type = \"6205\"\n"
        )
    }

    const RATE: &str = "rate_hz = 48000.0\n";
    const DEVICE: &str = "device = \"hw:0\"\nformat = \"S24_3LE\"\n";

    #[test]
    fn volts_of_the_full_scale_and_a_sensitivity_are_a_calibration() {
        let toml = text(
            &format!("{RATE}sensitivity_mv_per_g = 50.0"),
            &format!("{DEVICE}full_scale_v = 2.0"),
        );
        let settings = parse(Path::new("edge.toml"), &toml).expect("valid").0;
        let SourceInput::Alsa(alsa) = &settings.sources[0].input else { panic!("{settings:?}") };
        let full = alsa.format.calibrations[0].to_m_s2(8_388_608.0);
        assert!((full / M_S2_PER_G - 40.0).abs() < 1e-9, "{full}");
    }

    #[test]
    fn integers_without_a_scale_and_devices_that_falsify_are_refused() {
        let sensitivity = format!("{RATE}sensitivity_mv_per_g = 100.0");
        for (lines, table, expected) in [
            (RATE, DEVICE.to_owned(), "alsa.full_scale_v"),
            (&*sensitivity, DEVICE.to_owned(), "alsa.full_scale_v"),
            (RATE, format!("{DEVICE}full_scale_v = 2.0"), "sensitivity_mv_per_g"),
            (
                &*format!("{sensitivity}\nscale = 0.1"),
                format!("{DEVICE}full_scale_v = 2.0"),
                "without scale",
            ),
            (&sensitivity, format!("{DEVICE}full_scale_v = -2.0"), "volts above 0"),
            (&sensitivity, format!("{DEVICE}full_scale_v = 2.0\nchannels = 0"), "1 or more"),
            ("", DEVICE.to_owned(), "whole Hz"),
            ("rate_hz = 44100.5", DEVICE.to_owned(), "whole Hz"),
            (RATE, "device = \"hw:0\"".to_owned(), "s24_3le"),
            (RATE, DEVICE.replace("S24_3LE", "FLOAT_LE"), "s24_3le"),
            (RATE, DEVICE.replace("hw:0", "plughw:0"), "resample"),
            (RATE, DEVICE.replace("hw:0", "default:CARD=A"), "resample"),
            (RATE, DEVICE.replace("hw:0", ""), "the device itself"),
        ] {
            let error = parse(Path::new("edge.toml"), &text(lines, &table)).expect_err(expected);
            assert!(error.to_string().contains(expected), "{expected}: {error}");
        }
        // of a USB accelerometer whose data sheet states counts
        let toml = text(&format!("{RATE}unit = \"m/s2\"\nscale = 1e-5"), DEVICE);
        parse(Path::new("edge.toml"), &toml).expect("valid");
    }
}
