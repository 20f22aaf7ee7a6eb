//! Options of all commands on recordings: the part to read, and the machine.
//!
//! Two stages: the options as typed, all optional, so that a row of a list and the command line can
//! be combined; then the checked values. An error names the option as it is typed.

use std::path::PathBuf;

use clap::Args;
use pdm_dsp::DefectOrders;
use pdm_dsp::diagnose::{DEFAULT_ORDER_TOLERANCE, DEFAULT_SPEED_TOLERANCE};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::units::Rpm;

pub use crate::analysis::Machine;
use crate::catalogue::{Catalogue, Estimate};
use crate::source::interpretation::believed_rate;
use crate::source::{AccelUnit, Calibration, Preferred, RecordingOptions};
use crate::tabular::{Decimal, LocalZone};

/// The part of a recording to read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Recording")]
pub struct RecordingArgs {
    /// Channel, counted from 0 over the columns of acceleration [default: the first; all where
    /// snapshots are replayed]
    #[arg(long, value_name = "N")]
    pub channel: Option<usize>,
    /// Acceleration of one count of the file, in the unit of `--unit`; integer formats need it
    /// [default: 1]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub scale: Option<f64>,
    /// Unit of the samples after scaling: g or m/s2 [default: the unit that the file states, else
    /// g]
    #[arg(long, value_name = "g|m/s2")]
    pub unit: Option<AccelUnit>,
    /// Sensitivity of the sensor in mV/g, where the samples are millivolts after scaling
    #[arg(long, value_name = "MV_PER_G", conflicts_with = "unit", allow_negative_numbers = true)]
    pub sensitivity: Option<f64>,
    /// Subtracted from every sample after scaling, in its unit [default: 0]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub offset: Option<f64>,
    /// Variables of a file that holds several (such as bearing.gs or /run/acc), columns of a table
    /// (name or number from 0), sheet of a workbook (Sheet1, Sheet1!ax); several are separated by
    /// commas [default: what its name or unit says is acceleration]
    #[arg(long, value_name = "PATH")]
    pub variable: Option<String>,
    /// Sampling rate in Hz; may be left out where the file states it or has a time column
    #[arg(long, value_name = "HZ")]
    pub rate: Option<f64>,
    /// Seconds left out at the beginning
    #[arg(long, value_name = "T")]
    pub start_s: Option<f64>,
    /// Seconds read [default: to the end]
    #[arg(long, value_name = "T")]
    pub duration_s: Option<f64>,
    /// Which side counts where the file and an option contradict each other (rate, unit) [default:
    /// the file is refused]
    #[arg(long, value_name = "file|option")]
    pub prefer: Option<Preferred>,
    /// Decimal sign of a text where the text does not tell (0,125 in one column; 1,234)
    #[arg(long, value_name = "comma|point")]
    pub decimal: Option<Decimal>,
    /// Zone of times that state none, such as Asia/Seoul or +09:00 [default: that of this machine]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    pub zone: Option<LocalZone>,
}

/// The machine of a recording.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Machine")]
pub struct MachineArgs {
    /// Shaft speed in revolutions per minute
    #[arg(long, value_name = "RPM")]
    pub rpm: Option<f64>,
    /// Largest deviation of the true speed, in percent; the speed is searched within it, and more
    /// than 5 declares it uncertain [default: 5]
    #[arg(long, value_name = "PCT")]
    pub rpm_tolerance: Option<f64>,
    /// Bearing of the catalogue (see `pdm-edge bearings`)
    #[arg(long, value_name = "ID", conflicts_with = "orders")]
    pub bearing: Option<String>,
    /// The four defect frequencies as multiples of the shaft speed; BSF is the spin frequency (1×)
    #[arg(long, value_name = "BPFO,BPFI,BSF,FTF")]
    pub orders: Option<String>,
    /// Largest deviation of a defect line from its order (slip, contact angle), in percent
    /// [default: 2; for a bearing whose orders are estimated what the catalogue states, at most 10]
    #[arg(long, value_name = "PCT")]
    pub order_tolerance: Option<f64>,
    /// Catalogue file whose bearings are added to the built-in ones or replace those of the same id
    #[arg(long, value_name = "TOML")]
    pub catalogue: Option<PathBuf>,
}

/// The text where no bearing is named.
const BEARING_MISSING: &str = "--bearing ID or --orders BPFO,BPFI,BSF,FTF is missing: one is \
    needed (pdm-edge bearings lists them)";

/// A wrong option: exit code 64.
pub(crate) fn usage(message: impl std::fmt::Display) -> anyhow::Error {
    Failure::new(Exit::Usage, anyhow::anyhow!("{message}")).into()
}

impl RecordingArgs {
    /// The checked options.
    ///
    /// # Errors
    /// A [`Failure`] with exit code 64 that names the option and what is allowed.
    pub fn options(&self) -> anyhow::Result<RecordingOptions> {
        let named = |option: &str, e: &dyn std::fmt::Display| usage(format!("{option}: {e}"));
        let sensitivity =
            self.sensitivity.map(|mv| AccelUnit::Millivolt { sensitivity_mv_per_g: mv });
        let unit = sensitivity.or(self.unit);
        let calibration = Calibration::stated(unit, self.scale, self.offset.unwrap_or(0.0))
            .map_err(|e| named("--scale, --offset or --sensitivity", &e))?;
        let sample_rate =
            self.rate.map(believed_rate).transpose().map_err(|e| named("--rate", &e))?;
        Ok(RecordingOptions {
            sample_rate,
            channels: self.channel.into_iter().collect(),
            calibrations: vec![calibration],
            variable: self.variable.clone(),
            snapshot: None,
            start_s: self.start_s.unwrap_or(0.0),
            duration_s: self.duration_s,
            started_at: None,
            period_s: None,
            prefer: self.prefer,
            decimal: self.decimal,
            zone: self.zone.unwrap_or_default(),
        })
    }

    /// These options, completed by those of `other`.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        // a sensitivity replaces a unit, so both come from the same side
        let has_unit = self.unit.is_some() || self.sensitivity.is_some();
        let unit_from = if has_unit { &self } else { other };
        Self {
            channel: self.channel.or(other.channel),
            scale: self.scale.or(other.scale),
            unit: unit_from.unit,
            sensitivity: unit_from.sensitivity,
            offset: self.offset.or(other.offset),
            variable: self.variable.clone().or_else(|| other.variable.clone()),
            rate: self.rate.or(other.rate),
            start_s: self.start_s.or(other.start_s),
            duration_s: self.duration_s.or(other.duration_s),
            prefer: self.prefer.or(other.prefer),
            decimal: self.decimal.or(other.decimal),
            zone: self.zone.or(other.zone),
        }
    }
}

impl MachineArgs {
    /// Whether speed and bearing are given, right or wrong.
    pub(crate) const fn is_complete(&self) -> bool {
        self.rpm.is_some() && (self.bearing.is_some() || self.orders.is_some())
    }

    /// A machine, checked.
    ///
    /// # Errors
    /// A [`Failure`] with exit code 64 that names the option and the allowed values; 78 for an
    /// invalid catalogue.
    pub fn machine(&self) -> anyhow::Result<Machine> {
        let Some(rpm) = self.rpm else {
            let speed = "--rpm is missing: the shaft speed, 1/min";
            let is_bearing_given = self.bearing.is_some() || self.orders.is_some();
            return Err(usage(if is_bearing_given {
                speed.to_owned()
            } else {
                format!("{speed}; {BEARING_MISSING}")
            }));
        };
        let speed = Rpm::new(rpm).map_err(|e| usage(format!("--rpm: {e}")))?;
        let (orders, estimate) = self.bearing()?;
        let default = estimate.as_ref().map_or(DEFAULT_ORDER_TOLERANCE, Estimate::searched);
        Ok(Machine {
            speed,
            speed_tolerance: ratio("--rpm-tolerance", self.rpm_tolerance, 20.0)?
                .unwrap_or(DEFAULT_SPEED_TOLERANCE),
            orders,
            order_tolerance: ratio("--order-tolerance", self.order_tolerance, 10.0)?
                .unwrap_or(default),
            estimate,
        })
    }

    /// The given orders, or those of the named bearing.
    ///
    /// # Errors
    /// As [`Self::machine`].
    pub fn defect_orders(&self) -> anyhow::Result<DefectOrders> {
        Ok(self.bearing()?.0)
    }

    fn bearing(&self) -> anyhow::Result<(DefectOrders, Option<Estimate>)> {
        match (&self.bearing, &self.orders) {
            (Some(id), None) => {
                let catalogue: Catalogue = super::bearings::catalogue(self.catalogue.as_deref())?;
                let bearing = catalogue.find(id).map_err(|e| usage(format!("--bearing: {e}")))?;
                Ok((bearing.orders, bearing.estimate()))
            }
            (None, Some(text)) => Ok((parse_orders(text)?, None)),
            (None, None) => Err(usage(BEARING_MISSING)),
            (Some(_), Some(_)) => {
                Err(usage("--bearing and --orders are both given: one is needed"))
            }
        }
    }

    /// These options, completed by those of `other`.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        let has_bearing = self.bearing.is_some() || self.orders.is_some();
        let bearing_from = if has_bearing { &self } else { other };
        Self {
            rpm: self.rpm.or(other.rpm),
            rpm_tolerance: self.rpm_tolerance.or(other.rpm_tolerance),
            bearing: bearing_from.bearing.clone(),
            orders: bearing_from.orders.clone(),
            order_tolerance: self.order_tolerance.or(other.order_tolerance),
            catalogue: self.catalogue.clone().or_else(|| other.catalogue.clone()),
        }
    }
}

fn ratio(option: &str, percent: Option<f64>, most: f64) -> anyhow::Result<Option<f64>> {
    match percent {
        Some(p) if !(0.0..=most).contains(&p) => {
            Err(usage(format!("{option} is {p}, allowed is 0 to {most} percent")))
        }
        other => Ok(other.map(|p| p / 100.0)),
    }
}

/// Four numbers separated by commas, semicolons or spaces.
fn parse_orders(text: &str) -> anyhow::Result<DefectOrders> {
    let wrong = |why: &str| {
        usage(format!("--orders {text:?}: {why}; allowed are four numbers BPFO,BPFI,BSF,FTF"))
    };
    let numbers: Vec<f64> = text
        .split([',', ';', ' '])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map_err(|_| wrong("not a number"))?;
    let [bpfo, bpfi, bsf, ftf] = *numbers.as_slice() else {
        return Err(wrong(&format!("{} numbers", numbers.len())));
    };
    DefectOrders::new(bpfo, bpfi, bsf, ftf).map_err(|e| wrong(&e.to_string()))
}

#[cfg(test)]
mod tests {
    use pdm_service::exit::exit_of;

    use super::*;

    fn machine(orders: &str) -> MachineArgs {
        MachineArgs { rpm: Some(1500.0), orders: Some(orders.to_owned()), ..MachineArgs::default() }
    }

    #[test]
    fn orders_are_four_numbers() {
        let read = machine("3.245,4.755,2.5546,0.4056").machine().expect("valid");
        assert!((read.orders.bsf.get() - 2.5546).abs() < 1e-12);
        assert!((read.speed_tolerance - 0.05).abs() < 1e-12);
        for wrong in ["3.2,4.7,2.5", "3.2,4.7,2.5,x", "4.7,3.2,2.5,0.4", "3.2,4.7,2.5,1.4", ""] {
            let error = machine(wrong).machine().expect_err(wrong);
            assert_eq!(exit_of(&error), Exit::Usage, "{error}");
        }
    }

    #[test]
    fn an_option_out_of_range_is_named() {
        let zero = MachineArgs { rpm: Some(0.0), ..machine("3.2,4.8,2.5,0.4") };
        let error = zero.machine().expect_err("zero").to_string();
        assert_eq!(error, "--rpm: shaft speed (rpm) must be finite and above 0, got 0");
        let wide = MachineArgs { rpm_tolerance: Some(50.0), ..machine("3.2,4.8,2.5,0.4") };
        let error = wide.machine().expect_err("wide").to_string();
        assert_eq!(error, "--rpm-tolerance is 50, allowed is 0 to 20 percent");
        let rate = RecordingArgs { rate: Some(0.0), ..RecordingArgs::default() };
        assert!(rate.options().expect_err("zero").to_string().starts_with("--rate: "));
    }

    #[test]
    fn a_row_wins_over_the_command_line_and_a_bearing_over_its_orders() {
        let line = machine("3.2,4.8,2.5,0.4");
        let row = MachineArgs { bearing: Some("6205".to_owned()), ..MachineArgs::default() };
        let both = row.or(&line).machine().expect("valid");
        assert!((both.orders.bpfo.get() - 3.5848).abs() < 1e-3);
        assert!((both.speed.get() - 1500.0).abs() < 1e-12);
    }
}
