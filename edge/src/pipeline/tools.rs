//! The fast path's plans and memory, shared by all points that are measured one after the other.
//!
//! A plan for 25,600 samples and its buffers take a megabyte, and nothing of it is kept from one
//! window to the next: so points of one thread use one.

use std::sync::{Arc, Mutex, PoisonError};

use pdm_dsp::bearing::DefectOrders;
use pdm_dsp::{FastFindings, FastPath};
use pdm_shared::units::{Band, Rpm, SampleRate};

/// Paths that are kept, one for each length, rate and band. Chosen: a source has one rate and mostly
/// one band.
const KEPT: usize = 4;

/// What a path was made for.
type Kind = (usize, SampleRate, Band);

/// Shared by the points of one thread; points that are measured at once have one each.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    bench: Arc<Mutex<Bench>>,
}

#[derive(Debug, Default)]
struct Bench {
    paths: Vec<(Kind, FastPath)>,
    narrow: Vec<f32>,
}

impl Tools {
    /// Measures a window by the path of its length, rate and band; `None` if there can be none or
    /// the window cannot be measured.
    pub(super) fn measure(
        &self,
        accel_m_s2: &[f64],
        (rate, band): (SampleRate, Band),
        speed: Rpm,
        orders: &DefectOrders,
    ) -> Option<FastFindings> {
        // buffers are written before they are read, so what a panic left behind harms nobody
        let mut bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
        let Bench { paths, narrow } = &mut *bench;
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
        assert_eq!(shared.bench.lock().expect("no panic").paths.len(), KEPT);
    }
}
