//! The FFT plans and buffers of the fast path, shared by all points of a source.
//!
//! The plans for 25,600 samples and their buffers take two megabytes and keep nothing from one
//! window to the next. So points that are measured one after the other use the same plans. A
//! thorough look takes as much memory again: while a point of a live source looks, the plans are
//! freed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pdm_dsp::bearing::DefectOrders;
use pdm_dsp::{FastFindings, FastPath};
use pdm_shared::units::{Band, Rpm, SampleRate};

use super::looks::{Looks, Turn};

/// Number of plans that are kept, one for each length, rate and band. A source has one rate, one
/// length of window and mostly one band; three more allow for points with bands of their own.
const KEPT: usize = 4;

/// The number of samples, rate and band that a plan is made for.
type PlanKey = (usize, SampleRate, Band);

/// FFT plans of a source's points, and the scheduling of their looks. Clones share both.
#[derive(Debug, Clone, Default)]
pub struct FftPlans {
    /// Sets of plans that no thread uses now; one for each thread that measures at once.
    idle: Arc<Mutex<Vec<PlanSet>>>,
    looks: Looks,
}

#[derive(Debug, Default)]
struct PlanSet {
    paths: Vec<(PlanKey, FastPath)>,
    /// The samples of a window in single precision, as the fast path takes them.
    narrow: Vec<f32>,
}

impl FftPlans {
    /// Plans for the points of a live source.
    pub(super) fn live(turn: &Turn) -> Self {
        Self { looks: Looks::live(turn), ..Self::default() }
    }

    /// The scheduling of thorough looks.
    pub(super) const fn looks(&self) -> &Looks {
        &self.looks
    }

    /// Measures a window by the plan of its length, rate and band; `None` if there is no plan for
    /// them or the window cannot be measured.
    pub(super) fn measure(
        &self,
        accel_m_s2: &[f64],
        key: (SampleRate, Band),
        speed: Rpm,
        orders: &DefectOrders,
    ) -> Option<FastFindings> {
        let mut plans = self.idle().pop().unwrap_or_default();
        let found = plans.measure(accel_m_s2, key, speed, orders);
        self.idle().push(plans);
        found
    }

    /// Runs a thorough look. At a live source, waits for other looks first and frees the plans.
    pub(super) fn look<T>(&self, thorough: impl FnOnce() -> T) -> T {
        let Some(_turn) = self.looks.turn() else { return thorough() };
        self.idle().clear();
        thorough()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<PlanSet>> {
        // every buffer is written before it is read, so a panic leaves no wrong numbers behind
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlanSet {
    fn measure(
        &mut self,
        accel_m_s2: &[f64],
        (rate, band): (SampleRate, Band),
        speed: Rpm,
        orders: &DefectOrders,
    ) -> Option<FastFindings> {
        let Self { paths, narrow } = self;
        let key: PlanKey = (accel_m_s2.len(), rate, band);
        let made = paths.iter().position(|(made_for, _)| *made_for == key);
        let at = if let Some(at) = made {
            at
        } else {
            let path = FastPath::new(accel_m_s2.len(), rate, band).ok()?;
            if paths.len() == KEPT {
                paths.remove(0);
            }
            paths.push((key, path));
            paths.len() - 1
        };
        narrow.clear();
        narrow.extend(accel_m_s2.iter().map(|sample| *sample as f32));
        paths[at].1.measure(narrow, speed, orders).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_share_their_plans_find_what_each_finds_alone() {
        let rate = SampleRate::new(12_800.0).expect("valid");
        let speed = Rpm::new(1800.0).expect("valid");
        let orders = DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("valid");
        let shared = FftPlans::default();
        let bands = [
            (1000.0, 4000.0),
            (1000.0, 5000.0),
            (2000.0, 4000.0),
            (500.0, 5000.0),
            (1500.0, 5000.0),
        ];
        for round in 0..2 {
            for (n, (low, high)) in bands.into_iter().enumerate() {
                let band = Band::new(low, high).expect("valid");
                let samples: Vec<f64> = (0..4096 + 128 * n)
                    .map(|i| ((i * i + 7 * n + round) % 97) as f64 - 48.0)
                    .collect();
                let own = FftPlans::default().measure(&samples, (rate, band), speed, &orders);
                let with_others = shared.measure(&samples, (rate, band), speed, &orders);
                assert!(own.is_some());
                assert_eq!(format!("{own:?}"), format!("{with_others:?}"));
            }
        }
        assert_eq!(shared.idle().iter().map(|plans| plans.paths.len()).collect::<Vec<_>>(), [KEPT]);
    }

    #[test]
    fn a_look_at_a_live_source_finds_the_fast_paths_memory_given_back() {
        let band = Band::new(1000.0, 4000.0).expect("valid");
        let rate = SampleRate::new(12_800.0).expect("valid");
        let speed = Rpm::new(1800.0).expect("valid");
        let orders = DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("valid");
        for (plans, left) in [(FftPlans::live(&Turn::default()), 0), (FftPlans::default(), 1)] {
            plans.measure(&vec![1.0; 4096], (rate, band), speed, &orders);
            assert_eq!(plans.look(|| plans.idle().len()), left);
        }
    }
}
