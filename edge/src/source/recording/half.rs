//! Floating point of 16 bits (IEEE 754 binary16), as networks and compact logs keep samples.

/// The number of these bits.
pub(super) fn half_to_f64(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from((bits >> 10) & 0x1f);
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    match exponent {
        0 => sign * fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_16_bits_are_those_of_ieee_754() {
        for (bits, number) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_953_125),
            (0x7bff, 65_504.0),
            (0x0001, 5.960_464_477_539_063e-8),
        ] {
            assert!((half_to_f64(bits) - number).abs() < 1e-15, "{bits:x}");
        }
        assert!(half_to_f64(0x7e00).is_nan() && half_to_f64(0xfc00) == f64::NEG_INFINITY);
    }
}
