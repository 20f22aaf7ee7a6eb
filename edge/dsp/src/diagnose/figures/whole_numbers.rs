//! Finds which lines may be whole multiples of the shaft, and so no evidence of a bearing.
//!
//! Vanes, teeth, poles and looseness turn with the shaft. How near to a whole number a line may be
//! is a matter of how well the speed is known.

use super::{WHOLE_CONFIRMED, WHOLE_OTHER, WHOLE_STATED, off_whole};
use crate::diagnose::speed::{SpeedFit, Tried};

/// The shaft frequencies with which a record's lines are compared.
pub(super) struct WholeNumbers<'a> {
    tried: &'a Tried,
    /// Shaft frequencies that the record gives, Hz.
    known_hz: Vec<f64>,
    stated_hz: f64,
    turns: f64,
}

impl<'a> WholeNumbers<'a> {
    /// Collects the speeds that are tried and the one by the envelope's own shaft lines, Hz.
    pub(super) fn new(
        tried: &'a Tried,
        by_envelope: Option<f64>,
        (stated_hz, turns): (f64, f64),
    ) -> Self {
        let known_hz = tried.confirmed_hz.into_iter().chain(by_envelope).collect();
        Self { tried, known_hz, stated_hz, turns }
    }

    /// Returns how the stated speed fits, with what the envelope shows.
    pub(super) fn fit(&self, fit: SpeedFit) -> SpeedFit {
        let is_shown = fit == SpeedFit::Open && !self.known_hz.is_empty();
        if is_shown { SpeedFit::Confirmed } else { fit }
    }

    /// Returns how surely a line is no whole multiple of the shaft, 0 to 1.
    ///
    /// Where nothing in the record confirms the speed, a line within its tolerance of a whole
    /// multiple may be of vanes, teeth or poles.
    pub(super) fn off(&self, hz: f64) -> f64 {
        let off = |shaft_hz: &f64, ratio| off_whole(hz, *shaft_hz, ratio, self.turns);
        let by_speed = if self.known_hz.is_empty() {
            off(&self.stated_hz, WHOLE_STATED)
        } else {
            self.known_hz.iter().map(|known| off(known, WHOLE_CONFIRMED)).fold(1.0, f64::min)
        };
        if self.is_multiple_of_other(hz) { 0.0 } else { by_speed }
    }

    /// Returns how surely lines at an order could be told from a whole multiple of the shaft at
    /// all: twice the spin of a 6203 is 3.99 turns, and a line there says nothing about the
    /// bearing.
    pub(super) fn apart(&self, order: f64) -> f64 {
        off_whole(order, 1.0, WHOLE_CONFIRMED, self.turns)
    }

    /// Whether a line is a multiple of a speed that the record gave in place of the stated one, or
    /// of a comb that another line makes.
    fn is_multiple_of_other(&self, hz: f64) -> bool {
        let multiple = |shaft_hz: f64| {
            let order = hz / shaft_hz;
            let is_near = (order - order.round()).abs() <= WHOLE_OTHER * order;
            is_near.then(|| order.round() as u32)
        };
        let of_other = self.tried.fit == SpeedFit::Other && multiple(self.stated_hz).is_some();
        let of_posed = self.known_hz.is_empty()
            && self.tried.posed.is_some_and(|(posed_hz, own)| {
                multiple(posed_hz).is_some_and(|k| !k.is_multiple_of(own))
            });
        of_other || of_posed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(fit: SpeedFit, known_hz: Vec<f64>) -> Tried {
        Tried { hz: vec![25.0], confirmed_hz: known_hz.first().copied(), fit, posed: None }
    }

    fn numbers(tried: &Tried) -> WholeNumbers<'_> {
        let known_hz = tried.confirmed_hz.into_iter().collect();
        WholeNumbers { tried, known_hz, stated_hz: 25.0, turns: 300.0 }
    }

    /// Twice the spin of a 6203 is 3.993 turns; its races are apart.
    #[test]
    fn an_order_at_a_whole_number_is_no_evidence() {
        let tried = held(SpeedFit::Confirmed, vec![25.0]);
        let numbers = numbers(&tried);
        assert!(numbers.apart(3.9932) < 0.5, "{}", numbers.apart(3.9932));
        assert!(
            (numbers.apart(3.0543) - 1.0).abs() < 1e-12
                && (numbers.apart(4.9457) - 1.0).abs() < 1e-12
        );
    }

    /// A line that turns with a pump's flow stands 1 % off four times its shaft.
    #[test]
    fn beside_multiples_of_a_speed_that_was_not_stated_nothing_is_evidence() {
        let (confirmed, other) =
            (held(SpeedFit::Confirmed, vec![25.0]), held(SpeedFit::Other, vec![25.0]));
        assert!(numbers(&confirmed).off(3.96 * 25.0) > 0.9);
        assert!(numbers(&other).off(3.96 * 25.0).abs() < 1e-12);
        assert!((numbers(&other).off(3.6 * 25.0) - 1.0).abs() < 1e-12);
    }
}
