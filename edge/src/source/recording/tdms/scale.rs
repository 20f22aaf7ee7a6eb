//! Scales that a DAQmx driver leaves to the reader: `NI_Number_Of_Scales`,
//! `NI_Scale[0]_Scale_Type`.
//!
//! Each scale has the numbers of another one, of a card's scaler or the raw data as its input; the
//! last one gives the channel's values. Invariant: a scale of a kind that is not applied refuses
//! the channel, since its numbers without the scale would be wrong in silence.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::metadata::{Properties, Property};

/// The input that stands for the raw data.
const RAW_DATA: u32 = u32::MAX;

/// Most scales of a channel, and most coefficients of a polynomial.
const MAX_SCALES: u32 = 64;

/// The values of a channel.
pub(super) struct ScaledNumbers {
    pub(super) numbers: Vec<f64>,
    /// A scale of the file was applied, or the file states that the numbers are scaled.
    pub(super) is_scaled: bool,
}

/// Applies the scales of the channel, else of its group, else of the file.
pub(super) fn scaled<'a>(
    raw: BTreeMap<u32, Vec<f64>>,
    is_daqmx: bool,
    scopes: impl Iterator<Item = &'a Properties>,
) -> Result<ScaledNumbers, String> {
    let mut raw = raw;
    for properties in scopes {
        let count = number_of_scales(properties)?;
        if count == 0 {
            continue;
        }
        if properties.get("NI_Scaling_Status") == Some(&Property::Text("scaled".to_owned())) {
            return Ok(ScaledNumbers { numbers: single(raw)?, is_scaled: true });
        }
        let scales = Scales { properties, raw: &raw, is_daqmx, steps: Cell::new(0) };
        let is_applied = (0..count).any(|index| scales.kind(index).is_some());
        let numbers = scales.values(count - 1)?;
        raw.clear();
        return Ok(ScaledNumbers { numbers, is_scaled: is_applied });
    }
    Ok(ScaledNumbers { numbers: single(raw)?, is_scaled: false })
}

/// The numbers of the only scaler.
fn single(mut raw: BTreeMap<u32, Vec<f64>>) -> Result<Vec<f64>, String> {
    if raw.len() > 1 {
        return Err("DAQmx data of several scalers without a scale".to_owned());
    }
    Ok(raw.pop_first().map(|(_, numbers)| numbers).unwrap_or_default())
}

fn number_of_scales(properties: &Properties) -> Result<u32, String> {
    let stated = properties.get("NI_Number_Of_Scales").and_then(Property::number);
    let counted = || {
        let is_there =
            |index: &u32| properties.contains_key(&format!("NI_Scale[{index}]_Scale_Type"));
        (0..MAX_SCALES).filter(is_there).map(|index| index + 1).max().unwrap_or(0)
    };
    let count = stated.map_or_else(counted, |count| count.clamp(0.0, 1e6) as u32);
    if count > MAX_SCALES {
        return Err(format!("{count} scales; at most {MAX_SCALES} are applied"));
    }
    Ok(count)
}

struct Scales<'a> {
    properties: &'a Properties,
    raw: &'a BTreeMap<u32, Vec<f64>>,
    is_daqmx: bool,
    /// Scales that were evaluated: a sum can refer to the same scale twice, and so on.
    steps: Cell<u32>,
}

impl Scales<'_> {
    fn kind(&self, index: u32) -> Option<&str> {
        match self.properties.get(&format!("NI_Scale[{index}]_Scale_Type")) {
            Some(Property::Text(kind)) => Some(kind),
            _ => None,
        }
    }

    fn number(&self, index: u32, key: &str) -> Option<f64> {
        self.properties.get(&format!("NI_Scale[{index}]_{key}")).and_then(Property::number)
    }

    fn needed(&self, index: u32, key: &str) -> Result<f64, String> {
        self.number(index, key).ok_or_else(|| format!("a scale without {key}"))
    }

    fn input(&self, index: u32, key: &str) -> Result<Vec<f64>, String> {
        let source = self.number(index, key).map_or(RAW_DATA, |source| source as u32);
        self.values(source)
    }

    /// The values behind a scale.
    fn values(&self, index: u32) -> Result<Vec<f64>, String> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MAX_SCALES {
            return Err("scales that refer to each other in a circle".to_owned());
        }
        if index == RAW_DATA {
            return self
                .raw
                .values()
                .next()
                .cloned()
                .ok_or_else(|| "a scale without data".to_owned());
        }
        match self.kind(index) {
            // the numbers of a card's scaler have no type
            None if self.is_daqmx => self.raw.get(&index).cloned().ok_or_else(|| {
                format!("scale {index} is neither a scaler of the card nor a known scale")
            }),
            None => Err(format!("scale {index} has no type")),
            Some("Linear") => {
                let slope = self.needed(index, "Linear_Slope")?;
                let intercept = self.needed(index, "Linear_Y_Intercept")?;
                let mut numbers = self.input(index, "Linear_Input_Source")?;
                for number in &mut numbers {
                    *number = *number * slope + intercept;
                }
                Ok(numbers)
            }
            Some("Polynomial") => self.polynomial(index),
            Some("AdvancedAPI") => self.input(index, "AdvancedAPI_Input_Source"),
            Some(kind @ ("Add" | "Subtract")) => {
                let left = self.input(index, &format!("{kind}_Left_Operand_Input_Source"))?;
                let right = self.input(index, &format!("{kind}_Right_Operand_Input_Source"))?;
                // the driver's "left" is what is taken away
                let sign = if kind == "Add" { 1.0 } else { -1.0 };
                Ok(right.iter().zip(&left).map(|(right, left)| right + sign * left).collect())
            }
            Some(kind) => {
                Err(format!("a scale of the kind {kind:?}; linear and polynomial are applied"))
            }
        }
    }

    fn polynomial(&self, index: u32) -> Result<Vec<f64>, String> {
        let count = self.number(index, "Polynomial_Coefficients_Size").unwrap_or(4.0);
        if !(0.0..=f64::from(MAX_SCALES)).contains(&count) {
            return Err(format!("a polynomial of {count} coefficients"));
        }
        let mut coefficients = Vec::new();
        for power in 0..count as u32 {
            coefficients.push(self.needed(index, &format!("Polynomial_Coefficients[{power}]"))?);
        }
        let mut numbers = self.input(index, "Polynomial_Input_Source")?;
        let value = |x: f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
        for number in &mut numbers {
            *number = value(*number);
        }
        Ok(numbers)
    }
}
