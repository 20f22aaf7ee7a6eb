//! Decides which numbers of another system are the speed of a shaft: of a tag, a transmitter or a
//! server.
//!
//! A drive tells the speed of its motor in rpm, Hz or percent, and 0 while it stands. Invariants: a
//! speed that the shaft cannot have by its name plate is never used; a shaft that turns backwards
//! turns as fast.

use std::ops::RangeInclusive;

use pdm_shared::units::Rpm;

/// Speeds, as shares of the name plate's, that a shaft can have unless the configuration says
/// otherwise. A frequency converter runs its motor between a fifth of the nominal speed and a third
/// above it for longer than a start takes; percent taken for rpm are below a tenth, Hz a sixtieth.
/// Chosen for these.
pub const USUAL_SPEEDS: RangeInclusive<f64> = 0.2..=1.3;

/// Share of the name plate's speed below which a shaft stands: a drive that stands shows the noise
/// of its feedback.
const STANDS: f64 = 0.01;

/// The state of a shaft by its speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShaftSpeed {
    /// The shaft stands.
    Standing,
    /// It turns.
    Turning(Rpm),
}

impl ShaftSpeed {
    /// The speed, if the shaft turns.
    pub const fn turning(self) -> Option<Rpm> {
        match self {
            Self::Standing => None,
            Self::Turning(speed) => Some(speed),
        }
    }
}

/// Returns the speed of a shaft with this name plate, by a number of rpm.
///
/// # Errors
/// Why the shaft cannot have it.
pub fn shaft_speed(
    rpm: f64,
    name_plate: Rpm,
    shares: &RangeInclusive<f64>,
) -> Result<ShaftSpeed, String> {
    let amount = rpm.abs();
    let share = amount / name_plate.get();
    if share < STANDS {
        return Ok(ShaftSpeed::Standing);
    }
    match Rpm::new(amount) {
        Ok(speed) if shares.contains(&share) => Ok(ShaftSpeed::Turning(speed)),
        _ => Err(format!(
            "{amount:.1} rpm is {:.0} % of {name_plate}, and {:.0} to {:.0} % are allowed: is it \
             in Hz or percent (unit), or is the machine so fast or slow (range_percent)?",
            100.0 * share,
            100.0 * shares.start(),
            100.0 * shares.end()
        )),
    }
}

/// Returns the shares in a configured range of percent; `None` if it is no range.
pub fn speed_shares(percent: [f64; 2]) -> Option<RangeInclusive<f64>> {
    let [least, most] = percent;
    let is_range = least.is_finite() && most.is_finite() && 1.0 <= least && least < most;
    is_range.then(|| least / 100.0..=most / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_used_where_the_name_plate_allows_it() {
        let plate = Rpm::new(1480.0).expect("a speed");
        let judged = |rpm| shaft_speed(rpm, plate, &USUAL_SPEEDS);
        for (rpm, expected) in
            [(1475.0, 1475.0), (-1350.0, 1350.0), (300.0, 300.0), (1900.0, 1900.0)]
        {
            assert_eq!(judged(rpm).map(ShaftSpeed::turning), Ok(Rpm::new(expected).ok()), "{rpm}");
        }
        for rpm in [0.0, -0.0, 0.4, -3.0] {
            assert_eq!(judged(rpm), Ok(ShaftSpeed::Standing), "{rpm}");
        }
        // Hz, percent, a start, and Hz taken for rpm the other way round
        for rpm in [24.7, 98.7, 75.0, 200.0, 2500.0, 88_800.0] {
            let why = judged(rpm).expect_err("far from the name plate");
            assert!(why.contains("percent") && why.contains("1480"), "{why}");
        }
        let slow = speed_shares([5.0, 500.0]).expect("a range");
        assert!(shaft_speed(98.7, plate, &slow).is_ok(), "the configuration allows it");
        assert_eq!(speed_shares([50.0, 20.0]), None);
        assert_eq!(speed_shares([f64::NAN, 20.0]), None);
    }
}
