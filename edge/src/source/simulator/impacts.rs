//! Times and strengths of a defect's impacts, as a function of the shaft's angle.

use std::f64::consts::TAU;

use pdm_dsp::DefectOrders;
use pdm_shared::fault::Fault;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// Extent of the load zone, ε: 0.5 is a bearing without clearance whose lower half carries
/// (Harris & Kotzalas, *Essential Concepts of Bearing Technology*, ch. 7).
const LOAD_ZONE_EXTENT: f64 = 0.5;

/// Mean slip of the cage: its speed is lower than pure rolling gives by this ratio. 0.4 % is a
/// little slip; Randall & Antoni 2011 give 1–2 % as the usual deviation from the computed
/// frequency.
const CAGE_SLIP: f64 = 0.004;

/// Scatter of the strength of single impacts, ratio (1 σ). 12 % changes the level of a defect line
/// by less than 0.1 dB, and makes no two impacts equal.
const STRENGTH_SCATTER: f64 = 0.12;

/// The impacts of one defect along the shaft's angle.
#[derive(Debug)]
pub(super) struct Impacts {
    fault: Fault,
    /// Shaft angle between impacts, rad.
    spacing: f64,
    jitter: f64,
    /// Cage turns per shaft turn.
    cage: f64,
    /// Shaft angle of the next impact, rad.
    next: f64,
    /// Shaft angle of the last impact, rad.
    last: f64,
    /// Angle of the defect at shaft angle 0, rad.
    phase: f64,
    /// True if a damaged ball strikes the inner race next.
    is_inner_next: bool,
}

impl Impacts {
    pub(super) fn new(
        fault: Fault,
        orders: &DefectOrders,
        jitter: f64,
        rng: &mut impl Rng,
    ) -> Self {
        let cage = orders.ftf.get() * (1.0 - CAGE_SLIP);
        let spacing = TAU / order_of_impacts(fault, orders);
        let last = -spacing * rng.random::<f64>();
        let phase = TAU * rng.random::<f64>();
        let next = last + spacing;
        Self { fault, spacing, jitter, cage, next, last, phase, is_inner_next: false }
    }

    /// The strength of an impact between the last angle asked for and `angle`, relative to one
    /// under full load, and how far back it lies, rad.
    pub(super) fn until(&mut self, angle: f64, rng: &mut impl Rng) -> Option<(f64, f64)> {
        if angle < self.next {
            return None;
        }
        let at = self.next;
        let scatter: f64 = rng.sample(StandardNormal);
        // a period must stay above 0: the largest jitter allowed, 0.2, reaches one period at 5 σ
        let period = self.spacing * (1.0 + self.jitter * scatter).max(0.1);
        self.last = at;
        self.next = at + period;
        let scatter: f64 = rng.sample(StandardNormal);
        let strength = self.load_at(at) * (1.0 + STRENGTH_SCATTER * scatter).max(0.0);
        Some((strength, angle - at))
    }

    /// The position of the defect in its period at `angle`: 1 at an impact, 0 half-way between two.
    pub(super) fn pulse_at(&self, angle: f64) -> f64 {
        let share = (angle - self.last) / (self.next - self.last);
        0.5 * (1.0 + (TAU * share).cos())
    }

    /// Load on the contact that strikes at this shaft angle, 0…1.
    fn load_at(&mut self, angle: f64) -> f64 {
        match self.fault {
            Fault::InnerRace => load_zone(angle + self.phase),
            Fault::Ball => {
                self.is_inner_next = !self.is_inner_next;
                let race = if self.is_inner_next { 1.0 } else { 0.8 };
                race * load_zone(angle * self.cage + self.phase)
            }
            // an outer-race defect lies in the load zone and stays there; a cage carries no load
            Fault::OuterRace | Fault::Cage => 1.0,
        }
    }
}

/// Impacts per shaft turn with the cage's slip. BPFO + BPFI is the number of elements, so BPFI
/// rises by as much as BPFO falls.
fn order_of_impacts(fault: Fault, orders: &DefectOrders) -> f64 {
    let lost = orders.bpfo.get() * CAGE_SLIP;
    match fault {
        Fault::OuterRace => orders.bpfo.get() - lost,
        Fault::InnerRace => orders.bpfi.get() + lost,
        Fault::Ball => 2.0 * orders.bsf.get() * (1.0 - CAGE_SLIP),
        Fault::Cage => orders.ftf.get() * (1.0 - CAGE_SLIP),
    }
}

/// Stribeck's load distribution, relative to the largest: `(1 − (1 − cos ψ) / 2ε)^1.5` within the
/// zone, 0 outside. Source: Harris & Kotzalas, *Essential Concepts*, eq. 7.12 (ball bearings).
fn load_zone(angle: f64) -> f64 {
    let share = 1.0 - (1.0 - angle.cos()) / (2.0 * LOAD_ZONE_EXTENT);
    share.max(0.0).powf(1.5)
}
