//! Bearing kinematics: from geometry to the four defect orders.
//!
//! Stands before the diagnosis: the catalogue or the configuration gives a [`Geometry`] or
//! the orders themselves. Invariants: an order is finite and above 0; the cage turns slower than
//! the shaft; the inner race is passed more often than the outer.

use pdm_shared::fault::Fault;
use pdm_shared::units::{Order, QuantityError};

/// A geometry or a set of orders that no bearing can have. The caller reports it with the name of
/// the bearing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BearingError {
    /// Fewer rolling elements than a bearing can run on.
    #[error("a bearing has at least 3 rolling elements, got {got}")]
    TooFewElements {
        /// The value that was given.
        got: u32,
    },
    /// A dimension out of its range.
    #[error("{what} must be {allowed}, got {got}")]
    Dimension {
        /// Which dimension, with its unit.
        what: &'static str,
        /// The range allowed.
        allowed: &'static str,
        /// The value that was given.
        got: f64,
    },
    /// The elements do not fit on the pitch circle.
    #[error("{elements} elements of {element_mm} mm do not fit on a pitch circle of {pitch_mm} mm")]
    DoesNotFit {
        /// Number of elements.
        elements: u32,
        /// Their diameter, mm.
        element_mm: f64,
        /// Pitch diameter, mm.
        pitch_mm: f64,
    },
    /// An order that is not a positive number.
    #[error("{name}: {source}")]
    Order {
        /// Which order.
        name: &'static str,
        /// The fault of the value.
        source: QuantityError,
    },
    /// Orders that contradict each other.
    #[error("impossible orders: {reason}")]
    Impossible {
        /// Which rule is broken, with the numbers.
        reason: String,
    },
}

/// Dimensions of a rolling bearing whose outer race stands still.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geometry {
    elements: u32,
    element_diameter_mm: f64,
    pitch_diameter_mm: f64,
    contact_angle_deg: f64,
}

impl Geometry {
    /// Checks and makes a geometry.
    ///
    /// **Input** number of rolling elements in one row, their diameter and the pitch diameter (mm),
    /// contact angle (degrees, 0 to below 90).
    ///
    /// # Errors
    /// [`BearingError`] if a bearing of these dimensions cannot exist.
    pub fn new(
        elements: u32,
        element_diameter_mm: f64,
        pitch_diameter_mm: f64,
        contact_angle_deg: f64,
    ) -> Result<Self, BearingError> {
        if elements < 3 {
            return Err(BearingError::TooFewElements { got: elements });
        }
        for (what, got) in [
            ("element diameter (mm)", element_diameter_mm),
            ("pitch diameter (mm)", pitch_diameter_mm),
        ] {
            if !(got.is_finite() && got > 0.0) {
                return Err(BearingError::Dimension { what, allowed: "finite and above 0", got });
            }
        }
        if !(0.0..90.0).contains(&contact_angle_deg) {
            return Err(BearingError::Dimension {
                what: "contact angle (deg)",
                allowed: "from 0 to below 90",
                got: contact_angle_deg,
            });
        }
        let room = pitch_diameter_mm * (std::f64::consts::PI / f64::from(elements)).sin();
        if element_diameter_mm > room {
            return Err(BearingError::DoesNotFit {
                elements,
                element_mm: element_diameter_mm,
                pitch_mm: pitch_diameter_mm,
            });
        }
        Ok(Self { elements, element_diameter_mm, pitch_diameter_mm, contact_angle_deg })
    }

    /// The defect orders of pure rolling.
    ///
    /// With `γ = (d / D) cos φ`: `FTF = (1 − γ) / 2`, `BPFO = n FTF`, `BPFI = n (1 + γ) / 2`,
    /// `BSF = (D / 2d)(1 − γ²)`, the spin of one element; its defect strikes both races, hence
    /// shows at `2 BSF`.
    ///
    /// **Source** Randall & Antoni 2011, doi:10.1016/j.ymssp.2010.07.017, eqs. 1–4.
    ///
    /// **Example**
    /// ```
    /// # use pdm_dsp::Geometry;
    /// let skf_6205 = Geometry::new(9, 7.940, 39.040, 0.0)?;
    /// assert!((skf_6205.orders().bpfo.get() - 3.5848).abs() < 1e-3);
    /// # Ok::<(), pdm_dsp::bearing::BearingError>(())
    /// ```
    pub fn orders(&self) -> DefectOrders {
        let n = f64::from(self.elements);
        let ratio = self.element_diameter_mm / self.pitch_diameter_mm;
        let gamma = ratio * self.contact_angle_deg.to_radians().cos();
        let order = |value: f64| {
            Order::new(value).expect("a checked geometry has 0 < γ < 1, so every order is above 0")
        };
        DefectOrders {
            bpfo: order(n * (1.0 - gamma) / 2.0),
            bpfi: order(n * f64::midpoint(1.0, gamma)),
            bsf: order((1.0 - gamma * gamma) / (2.0 * ratio)),
            ftf: order((1.0 - gamma) / 2.0),
        }
    }
}

/// The four defect frequencies as multiples of the shaft speed, outer race standing still.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DefectOrders {
    /// Ball pass, outer race.
    pub bpfo: Order,
    /// Ball pass, inner race.
    pub bpfi: Order,
    /// Spin of one rolling element, 1×; a defect on it shows at 2×.
    pub bsf: Order,
    /// Cage.
    pub ftf: Order,
}

impl DefectOrders {
    /// Takes orders as printed by a maker or a data set.
    ///
    /// # Errors
    /// [`BearingError::Order`] for one that is not a positive number; [`BearingError::Impossible`]
    /// if the cage is not slower than the shaft or BPFO is not below BPFI.
    pub fn new(bpfo: f64, bpfi: f64, bsf: f64, ftf: f64) -> Result<Self, BearingError> {
        let order = |name: &'static str, value: f64| {
            Order::new(value).map_err(|source| BearingError::Order { name, source })
        };
        let orders = Self {
            bpfo: order("BPFO", bpfo)?,
            bpfi: order("BPFI", bpfi)?,
            bsf: order("BSF", bsf)?,
            ftf: order("FTF", ftf)?,
        };
        if ftf >= 1.0 {
            let reason = format!("the cage must turn slower than the shaft (FTF < 1), got {ftf}");
            return Err(BearingError::Impossible { reason });
        }
        if bpfo >= bpfi {
            let reason = format!("BPFO must be below BPFI, got {bpfo} and {bpfi}");
            return Err(BearingError::Impossible { reason });
        }
        Ok(orders)
    }

    /// Returns how far `BPFO + BPFI` is from a whole number of rolling elements, as a ratio of that
    /// number.
    ///
    /// Kinematics asks for 0 (Randall & Antoni 2011, eqs. 1 and 2 added); given orders may miss it
    /// by rounding or because they were measured. [`Self::is_consistent`] judges it.
    pub fn element_count_residual(&self) -> f64 {
        let sum = self.bpfo.get() + self.bpfi.get();
        let elements = sum.round().max(1.0);
        (sum - elements).abs() / elements
    }

    /// Whether `BPFO + BPFI` is within 1 % of a whole number, and `BPFO` within 3 % of that number
    /// of cage turns (chosen: makers' tables are rounded to two decimals).
    pub fn is_consistent(&self) -> bool {
        let elements = (self.bpfo.get() + self.bpfi.get()).round();
        self.element_count_residual() <= 0.01
            && (self.bpfo.get() / (elements * self.ftf.get()) - 1.0).abs() <= 0.03
    }

    /// The order at which a defect of this part shows: BPFO, BPFI, **2×BSF**, FTF.
    pub fn of(&self, fault: Fault) -> Order {
        match fault {
            Fault::OuterRace => self.bpfo,
            Fault::InnerRace => self.bpfi,
            Fault::Ball => Order::new(2.0 * self.bsf.get()).unwrap_or(self.bsf),
            Fault::Cage => self.ftf,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// R-EDGE-3. Orders as CWRU prints them for its drive-end 6205 (BSF doubled there).
    #[test]
    fn defect_orders_of_the_6205_match_the_published_ones() {
        let orders = Geometry::new(9, 7.940, 39.040, 0.0).expect("valid").orders();
        // Printed to four decimals; the diameters are known to 0.01 mm.
        for (got, want) in [
            (orders.bpfo, 3.5848),
            (orders.bpfi, 5.4152),
            (orders.of(Fault::Ball), 4.7135),
            (orders.ftf, 0.398_28),
        ] {
            assert!((got.get() - want).abs() < 1.5e-3, "{got} {want}");
        }
        assert!(orders.is_consistent());
    }

    #[test]
    fn orders_of_the_za_2115_count_its_contact_angle() {
        let orders = Geometry::new(16, 8.4074, 71.501, 15.17).expect("valid").orders();
        assert!((orders.bpfo.get() - 7.0921).abs() < 1e-3);
        assert!((orders.bpfi.get() - 8.9079).abs() < 1e-3);
    }

    #[test]
    fn what_no_bearing_can_be_is_refused_with_the_numbers() {
        assert!(Geometry::new(2, 5.0, 30.0, 0.0).is_err());
        assert!(Geometry::new(9, f64::NAN, 30.0, 0.0).is_err());
        assert!(Geometry::new(9, 5.0, 30.0, 90.0).is_err());
        let text = Geometry::new(20, 10.0, 30.0, 0.0).expect_err("too full").to_string();
        assert_eq!(text, "20 elements of 10 mm do not fit on a pitch circle of 30 mm");
        assert!(DefectOrders::new(5.4, 3.5, 2.3, 0.4).is_err());
        assert!(DefectOrders::new(3.5, 5.4, 2.3, 1.4).is_err());
        assert!(DefectOrders::new(3.5, 5.4, 0.0, 0.4).is_err());
    }

    proptest! {
        /// BPFO + BPFI = n, whatever the geometry.
        #[test]
        fn the_race_orders_add_up_to_the_number_of_elements(
            n in 3_u32..40, fill in 0.2_f64..0.98, pitch in 5.0_f64..500.0, angle in 0.0_f64..45.0
        ) {
            let element = fill * pitch * (std::f64::consts::PI / f64::from(n)).sin();
            let orders = Geometry::new(n, element, pitch, angle).expect("fits").orders();
            prop_assert!((orders.bpfo.get() + orders.bpfi.get() - f64::from(n)).abs() < 1e-9);
            prop_assert!((orders.bpfo.get() - f64::from(n) * orders.ftf.get()).abs() < 1e-9);
            prop_assert!(orders.is_consistent());
        }
    }
}
