//! Checks whether the lines of a rolling element's own spin stand beside the cage's.
//!
//! All other motion of a bearing repeats with the shaft and the cage alone: BPFO is a whole
//! multiple of FTF, BPFI a whole multiple of the difference of shaft and cage, and their sidebands
//! are sums of both. Only the spin of a rolling element is no such sum. So all orders `m + n · FTF`
//! are taken out; a ladder of lines FTF apart around 2×BSF that is left has no other part as its
//! cause. It is read where the cage's lines stand ([`super::cage`]): a damaged rolling element
//! meets the load zone once a turn of the cage, and its ordinary family has then too little at
//! 2×BSF itself.
//!
//! Invariant: a record too short to tell the sums from each other gives nothing.

use super::cage::Cage;
use super::levels::{log_levels, widen};
use super::{Request, cage};
use crate::robust::{MAD_TO_SIGMA, median_and_mad};
use crate::spectrum::Spectrum;

/// The number of standard deviations from which the ladder stands, in the look as it is and
/// pre-whitened alike (chosen: of the 45 recordings long enough the one that shows by it has 4.7 in
/// both, the next, an inner race, 2.0).
pub const STANDS: f64 = 3.3;
/// Rungs, as turns of the cage from the centre, with their weights (chosen).
const RUNGS: [(f64, f64); 5] = [(-2.0, 0.5), (-1.0, 1.0), (0.0, 1.0), (1.0, 1.0), (2.0, 0.5)];
/// Multiples of the shaft and of the cage whose sums are taken out: twice BPFO of 8 elements.
const SHAFT_MULTIPLES: f64 = 12.0;
const CAGE_MULTIPLES: i32 = 16;
/// Lines to either side that a sum takes with it (the main lobe of the Hann taper) …
const LOBE_LINES: f64 = 2.0;
/// … and how far it may be off by each multiple of the cage, orders (chosen: a tenth of a percent).
const CAGE_SPREAD: f64 = 0.0004;
/// Orders among which the unrelated centres are, as in [`super::figures`].
const ORDERS: (f64, f64) = (1.6, 9.5);
/// Steps within one line in which a centre is varied.
const STEPS: f64 = 4.0;
/// Fewest free centres, near 2×BSF and unrelated, that tell anything (chosen).
const LEAST_CENTRES: (usize, usize) = (4, 50);

/// The finding of one look about the rolling elements' spin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spin {
    /// Standard deviations by which the ladder stands above unrelated ladders.
    pub z: f64,
    /// The centre of the ladder: the order of 2×BSF.
    pub order: f64,
    /// The strongest unrelated ladder in the same measure.
    pub rival: f64,
    /// Distance of two lines of the look, orders.
    pub line: f64,
}

/// The ladder around 2×BSF in an envelope spectrum at whole-record resolution, where the cage's
/// lines stand and the record is long enough to tell.
pub fn standing(spectrum: &Spectrum, shaft_hz: f64, request: &Request, cage: Cage) -> Option<Spin> {
    if cage.z < cage::STANDS || spectrum.df_hz <= 0.0 {
        return None;
    }
    let ladder = Ladder::new(spectrum, shaft_hz, cage.order);
    let ball = 2.0 * request.orders.bsf.get();
    let (order, value) = ladder.best_near(ball, request.order_tolerance)?;
    let unrelated: Vec<f64> = ladder.unrelated(order).map(|at| ladder.value(at)).collect();
    if unrelated.len() < LEAST_CENTRES.1 {
        return None;
    }
    let (usual, mad) = median_and_mad(&unrelated)?;
    let z = |value: f64| (value - usual) / (MAD_TO_SIGMA * mad + 1.0);
    let rival = z(unrelated.iter().copied().fold(0.0, f64::max));
    Some(Spin { z: z(value), order, rival, line: ladder.line })
}

/// The spin that all looks agree on: the same centre stands in each, and above every unrelated one.
pub fn agreed(found: &[Option<Spin>]) -> Option<Spin> {
    let found: Option<Vec<Spin>> = found.iter().copied().collect();
    let found = found.filter(|found| found.len() >= 2)?;
    let weakest = found.iter().copied().min_by(|a, b| a.z.total_cmp(&b.z))?;
    let is_told = found.iter().all(|spin| {
        let reach = 1.5 * spin.line;
        spin.z >= STANDS && spin.z > spin.rival && (spin.order - weakest.order).abs() <= reach
    });
    is_told.then_some(weakest)
}

/// Levels without the sums of shaft and cage.
struct Ladder {
    levels: Vec<f64>,
    ftf: f64,
    line: f64,
}

impl Ladder {
    fn new(spectrum: &Spectrum, shaft_hz: f64, ftf: f64) -> Self {
        let line = spectrum.df_hz / shaft_hz;
        let mut levels = log_levels(spectrum, shaft_hz);
        for (i, level) in levels.iter_mut().enumerate() {
            if is_sum(i as f64 * line, ftf, line) {
                *level = 0.0;
            }
        }
        Self { levels: widen(&levels, 1), ftf, line }
    }

    /// Centres that may be looked at: no sums themselves.
    fn centres(&self, low: f64, high: f64) -> impl Iterator<Item = f64> + '_ {
        let step = self.line / STEPS;
        let count = ((high - low) / step).max(0.0) as usize;
        (0..=count).map(move |i| low + step * i as f64).filter(|o| !is_sum(*o, self.ftf, self.line))
    }

    fn value(&self, centre: f64) -> f64 {
        let level = |order: f64| self.levels.get((order / self.line).round().max(0.0) as usize);
        let total: f64 = RUNGS.iter().map(|rung| rung.1).sum();
        RUNGS
            .iter()
            .map(|(turns, weight)| weight * level(centre + turns * self.ftf).unwrap_or(&0.0))
            .sum::<f64>()
            / total
    }

    fn best_near(&self, order: f64, tolerance: f64) -> Option<(f64, f64)> {
        let free: Vec<f64> =
            self.centres(order * (1.0 - tolerance), order * (1.0 + tolerance)).collect();
        (free.len() >= LEAST_CENTRES.0).then_some(())?;
        let valued = free.into_iter().map(|centre| (centre, self.value(centre)));
        valued.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Centres whose ladders share no rung with the one at `order` nor with that of half the spin.
    fn unrelated(&self, order: f64) -> impl Iterator<Item = f64> + '_ {
        let is_apart = move |centre: f64, other: f64| {
            let turns = (centre - other) / self.ftf;
            (turns - turns.round()).abs() * self.ftf > 4.0 * self.line
        };
        self.centres(ORDERS.0, ORDERS.1)
            .filter(move |centre| is_apart(*centre, order) && is_apart(*centre, order / 2.0))
    }
}

/// Whether an order is, within the resolution, a multiple of the shaft plus or minus a multiple of
/// the cage.
fn is_sum(order: f64, ftf: f64, line: f64) -> bool {
    (-CAGE_MULTIPLES..=CAGE_MULTIPLES).map(f64::from).any(|n| {
        let rest = order - n * ftf;
        let whole = rest.round();
        let reach = LOBE_LINES * line + CAGE_SPREAD * n.abs();
        (0.0..=SHAFT_MULTIPLES).contains(&whole) && (rest - whole).abs() <= reach
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bearing::DefectOrders;
    use pdm_shared::units::{Rpm, SampleRate};

    const FTF: f64 = 0.3983;
    const BALL: f64 = 4.69;

    fn request() -> Request {
        let orders = DefectOrders::new(3.585, 5.415, 2.357, FTF).expect("valid");
        let (rate, speed) = (SampleRate::new(12_000.0), Rpm::new(1800.0));
        Request::new(rate.expect("valid"), speed.expect("valid"), orders)
    }

    /// Uneven lines `line` orders apart at 30 Hz; the cage's multiples and lines at `orders` stand.
    fn spectrum(line: f64, orders: &[f64]) -> Spectrum {
        let mut amplitude: Vec<f64> = (0..(24.0 / line) as u32)
            .map(|i| 1.0 + 0.9 * f64::from(i.wrapping_mul(2_654_435_761) >> 16) / 65_536.0)
            .collect();
        let cage = (1..=8).map(|n| f64::from(n) * FTF);
        for order in cage.chain(orders.iter().copied()) {
            amplitude[(order / line).round() as usize] = 8.0;
        }
        Spectrum { df_hz: 30.0 * line, amplitude }
    }

    fn ladder(centre: f64) -> Vec<f64> {
        (-3..=3).map(|n| centre + f64::from(n) * FTF).collect()
    }

    fn found(line: f64, orders: &[f64]) -> Option<Spin> {
        standing(&spectrum(line, orders), 30.0, &request(), Cage { z: 6.0, order: FTF })
    }

    #[test]
    fn a_ladder_at_the_spin_stands() {
        let spin = found(0.003, &ladder(BALL)).expect("the record is long enough");
        assert!(spin.z >= STANDS && spin.z > spin.rival, "{spin:?}");
        assert!((spin.order - BALL).abs() < 0.006, "{spin:?}");
        assert!(agreed(&[Some(spin), Some(spin)]).is_some());
    }

    /// Shaft multiples and both races with sidebands of the cage: all of them sums.
    #[test]
    fn ladders_of_shaft_and_races_are_not_the_spins() {
        let centres = [4.0, 5.0, 9.0 * FTF, 9.0 - 9.0 * FTF];
        let orders: Vec<f64> = centres.into_iter().flat_map(ladder).collect();
        let spin = found(0.003, &orders).expect("the record is long enough");
        assert!(spin.z < STANDS, "{spin:?}");
    }

    /// Something foreign that the cage modulates stands at the spin as well as elsewhere.
    #[test]
    fn a_ladder_among_stronger_ones_is_not_agreed_on() {
        let strong = Spin { z: 5.0, order: 4.7, rival: 5.5, line: 0.003 };
        assert_eq!(agreed(&[Some(strong), Some(strong)]), None);
        let clear = Spin { rival: 2.0, ..strong };
        assert_eq!(agreed(&[Some(clear), Some(Spin { order: 4.72, ..clear })]), None);
        assert_eq!(agreed(&[Some(clear), None]), None);
        assert_eq!(agreed(&[Some(clear)]), None);
    }

    #[test]
    fn a_short_record_tells_nothing() {
        assert_eq!(found(0.03, &ladder(BALL)), None);
    }

    #[test]
    fn without_the_cages_lines_nothing_is_looked_for() {
        let look = spectrum(0.003, &ladder(BALL));
        let faint = Cage { z: cage::STANDS - 0.1, order: FTF };
        assert_eq!(standing(&look, 30.0, &request(), faint), None);
    }
}
