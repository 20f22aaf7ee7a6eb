//! Quantities whose mix-up would lead to a wrong diagnosis: frequency, speed, order, band.
//!
//! Every constructor refuses NaN, infinity and values outside the quantity's range, so a value of
//! one of these types is always usable. Bulk samples stay `&[f64]` with the unit in their name.

use std::fmt;

/// Standard gravity, m/s² per g (ISO 80000-3, 3rd CGPM 1901). No other place repeats this number.
pub const M_S2_PER_G: f64 = 9.806_65;

/// A quantity that is not finite or outside its range. The caller reports it with the name of the
/// option or key it came from.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{quantity} must be {allowed}, got {got}")]
pub struct QuantityError {
    /// The quantity, with its unit.
    pub quantity: &'static str,
    /// The allowed range.
    pub allowed: &'static str,
    /// The value that was given.
    pub got: f64,
}

fn positive(quantity: &'static str, value: f64) -> Result<f64, QuantityError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(QuantityError { quantity, allowed: "finite and above 0", got: value })
    }
}

macro_rules! positive_quantity {
    ($(#[$doc:meta])* $name:ident, $label:literal, $unit:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            /// Makes the quantity from a number in its unit.
            ///
            /// # Errors
            /// [`QuantityError`] if `value` is not finite and above 0.
            pub fn new(value: f64) -> Result<Self, QuantityError> {
                positive($label, value).map(Self)
            }

            /// The number, in the unit of the type.
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{}", $unit), self.0)
            }
        }
    };
}

positive_quantity!(
    /// A frequency, Hz, above 0.
    Hertz, "frequency (Hz)", " Hz"
);
positive_quantity!(
    /// Samples per second of one channel, Hz, above 0.
    SampleRate, "sampling rate (Hz)", " Hz"
);
positive_quantity!(
    /// A shaft speed, revolutions per minute, above 0.
    Rpm, "shaft speed (rpm)", " rpm"
);
positive_quantity!(
    /// A multiple of the shaft speed, above 0.
    Order, "order (multiples of shaft speed)", "×"
);

impl SampleRate {
    /// The Nyquist frequency, Hz: half the sampling rate, the highest frequency of a sampled
    /// signal.
    pub fn nyquist_hz(self) -> f64 {
        self.0 / 2.0
    }
}

impl Rpm {
    /// The shaft frequency `fr`, Hz: rpm / 60.
    pub fn shaft_hz(self) -> f64 {
        self.0 / 60.0
    }

    /// The speed whose shaft frequency is `hz`.
    ///
    /// # Errors
    /// [`QuantityError`] if `hz` is not finite and above 0.
    pub fn from_shaft_hz(hz: f64) -> Result<Self, QuantityError> {
        Self::new(hz * 60.0)
    }
}

impl Order {
    /// The frequency of this order at a shaft speed, Hz.
    pub fn at(self, speed: Rpm) -> f64 {
        self.0 * speed.shaft_hz()
    }
}

/// A frequency band `[low, high]`, Hz, `0 ≤ low < high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    low_hz: f64,
    high_hz: f64,
}

impl Band {
    /// Makes a band from its edges.
    ///
    /// # Errors
    /// [`QuantityError`] if an edge is not finite, `low_hz` is negative or not below `high_hz`.
    pub fn new(low_hz: f64, high_hz: f64) -> Result<Self, QuantityError> {
        let quantity = "band edge (Hz)";
        if !low_hz.is_finite() || low_hz < 0.0 {
            return Err(QuantityError { quantity, allowed: "finite and not below 0", got: low_hz });
        }
        if !high_hz.is_finite() || high_hz <= low_hz {
            return Err(QuantityError { quantity, allowed: "above the lower edge", got: high_hz });
        }
        Ok(Self { low_hz, high_hz })
    }

    /// Lower edge of the band, Hz.
    pub const fn low_hz(self) -> f64 {
        self.low_hz
    }

    /// Upper edge of the band, Hz.
    pub const fn high_hz(self) -> f64 {
        self.high_hz
    }

    /// Width of the band, Hz.
    pub fn width_hz(self) -> f64 {
        self.high_hz - self.low_hz
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0}–{:.0} Hz", self.low_hz, self.high_hz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_infinity_zero_and_negatives_are_no_quantity() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0] {
            assert!(Hertz::new(bad).is_err(), "{bad}");
            assert!(Rpm::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_error_says_quantity_range_and_value() {
        let text = Rpm::new(-3.0).expect_err("negative").to_string();
        assert_eq!(text, "shaft speed (rpm) must be finite and above 0, got -3");
    }

    #[test]
    fn order_times_shaft_frequency_is_hertz() {
        let speed = Rpm::new(1800.0).expect("valid");
        let order = Order::new(3.5).expect("valid");
        assert!((order.at(speed) - 105.0).abs() < 1e-12);
    }

    #[test]
    fn a_band_needs_its_edges_in_order() {
        assert!(Band::new(100.0, 100.0).is_err());
        assert!(Band::new(-1.0, 100.0).is_err());
        assert!((Band::new(500.0, 1500.0).expect("valid").width_hz() - 1000.0).abs() < 1e-12);
    }
}
