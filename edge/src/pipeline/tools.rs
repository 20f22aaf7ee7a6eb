//! The fast path's plans and memory, shared by all points of a source, and whose turn to look
//! thoroughly it is.
//!
//! A plan for 25,600 samples and its buffers take two megabytes, and nothing of it is kept from one
//! window to the next: so points that are measured one after the other use one, and while a point of
//! a live source looks thoroughly, which takes as much, it is given back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pdm_dsp::bearing::DefectOrders;
use pdm_dsp::{FastFindings, FastPath};
use pdm_shared::units::{Band, Rpm, SampleRate};

use super::looks::{Looks, Turn};

/// Paths that are kept, one for each length, rate and band. Chosen: a source has one rate and mostly
/// one band.
const KEPT: usize = 4;

/// What a path was made for.
type Kind = (usize, SampleRate, Band);

/// Shared by the points of a source. Clones share the same.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    /// Those that nobody uses now.
    benches: Arc<Mutex<Vec<Bench>>>,
    looks: Looks,
}

#[derive(Debug, Default)]
struct Bench {
    paths: Vec<(Kind, FastPath)>,
    narrow: Vec<f32>,
}

impl Tools {
    /// For the points of a live source.
    pub(super) fn live(turn: &Turn) -> Self {
        Self { looks: Looks::live(turn), ..Self::default() }
    }

    /// Whose turn to look it is.
    pub(super) const fn looks(&self) -> &Looks {
        &self.looks
    }

    /// Measures a window by the path of its length, rate and band; `None` if there can be none or
    /// the window cannot be measured.
    pub(super) fn measure(
        &self,
        accel_m_s2: &[f64],
        kind: (SampleRate, Band),
        speed: Rpm,
        orders: &DefectOrders,
    ) -> Option<FastFindings> {
        let mut bench = self.idle().pop().unwrap_or_default();
        let found = bench.measure(accel_m_s2, kind, speed, orders);
        self.idle().push(bench);
        found
    }

    /// Looks thoroughly, when it is its turn.
    pub(super) fn look<T>(&self, thorough: impl FnOnce() -> T) -> T {
        let Some(_turn) = self.looks.turn() else { return thorough() };
        self.idle().clear();
        thorough()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Bench>> {
        // buffers are written before they are read, so what a panic left behind harms nobody
        self.benches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bench {
    fn measure(
        &mut self,
        accel_m_s2: &[f64],
        (rate, band): (SampleRate, Band),
        speed: Rpm,
        orders: &DefectOrders,
    ) -> Option<FastFindings> {
        let Self { paths, narrow } = self;
        let kind = (accel_m_s2.len(), rate, band);
        let made = paths.iter().position(|(made_for, _)| *made_for == kind);
        let at = if let Some(at) = made {
            at
        } else {
            let path = FastPath::new(accel_m_s2.len(), rate, band).ok()?;
            if paths.len() == KEPT {
                paths.remove(0);
            }
            paths.push((kind, path));
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
    fn points_that_share_their_tools_find_what_each_finds_alone() {
        let rate = SampleRate::new(12_800.0).expect("valid");
        let speed = Rpm::new(1800.0).expect("valid");
        let orders = DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("valid");
        let shared = Tools::default();
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
                let own = Tools::default().measure(&samples, (rate, band), speed, &orders);
                let with_others = shared.measure(&samples, (rate, band), speed, &orders);
                assert!(own.is_some());
                assert_eq!(format!("{own:?}"), format!("{with_others:?}"));
            }
        }
        assert_eq!(shared.idle().iter().map(|bench| bench.paths.len()).collect::<Vec<_>>(), [KEPT]);
    }

    #[test]
    fn a_look_at_a_live_source_finds_the_fast_paths_memory_given_back() {
        let band = Band::new(1000.0, 4000.0).expect("valid");
        let rate = SampleRate::new(12_800.0).expect("valid");
        let speed = Rpm::new(1800.0).expect("valid");
        let orders = DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("valid");
        for (tools, left) in [(Tools::live(&Turn::default()), 0), (Tools::default(), 1)] {
            tools.measure(&vec![1.0; 4096], (rate, band), speed, &orders);
            assert_eq!(tools.look(|| tools.idle().len()), left);
        }
    }
}
