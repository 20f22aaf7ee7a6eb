//! Disturbances of electric drives: steady tones and their beats, discharges.

use rand::RngExt;

use super::machine::Machine;

impl Machine {
    fn carrier_hz(&mut self) -> f64 {
        self.random.random_range(0.15..0.4) * self.rate_hz
    }

    /// A carrier near a defect line, modulated by twice the mains frequency, with slip sidebands.
    pub(super) fn electrical_slip(&mut self, accel: &mut [f64]) {
        let mains = if self.random.random_bool(0.5) { 50.0 } else { 60.0 };
        // the speed at which twice the mains frequency falls on a race's line, if the machine can
        // run at it
        let race = [self.orders.bpfo, self.orders.bpfi][self.random.random_range(0..2)].get();
        let carrier = self.carrier_hz();
        let slip = self.random.random_range(0.5..3.0);
        let near = 2.0 * mains / race;
        if (14.0..50.0).contains(&near) {
            self.shaft_hz = near;
        }
        for side in [-2.0, -1.0, 0.0, 1.0, 2.0_f64] {
            let size = 2.0 / (1.0 + side.abs());
            for line in [carrier, carrier + 2.0 * mains, carrier - 2.0 * mains] {
                self.add_tone(accel, line + side * slip, size);
            }
        }
    }

    /// Sidebands at twice, six and twelve times the output frequency of a two-pole motor.
    pub(super) fn inverter(&mut self, accel: &mut [f64]) {
        let carrier = self.random.random_range(2000.0..0.4 * self.rate_hz);
        let output = 2.0 * self.shaft_hz * 1.02;
        for n in [-12.0, -6.0, -2.0, 0.0, 2.0, 6.0, 12.0] {
            self.add_tone(accel, carrier + n * output, 2.0);
        }
    }

    /// Sidebands of a motor whose number of poles and slip put them a defect frequency apart,
    /// around the carrier and its double.
    pub(super) fn inverter_on_line(&mut self, accel: &mut [f64]) {
        let (carrier, apart) = (self.random.random_range(1500.0..5000.0), self.defect_line_hz());
        let size = self.random.random_range(0.5..4.0);
        self.add_family(accel, carrier, apart, size);
        self.add_family(accel, 2.0 * carrier, apart, size / 2.0);
    }

    /// One tone modulated by another, as a cable with current shows.
    pub(super) fn modulated_tone(&mut self, accel: &mut [f64]) {
        let (carrier, apart) = (self.carrier_hz(), self.defect_line_hz());
        let size = self.random.random_range(0.3..3.0);
        self.add_tone(accel, carrier, size);
        self.add_tone(accel, carrier - apart, size / 2.0);
        self.add_tone(accel, carrier + apart, size / 2.0);
    }

    /// The carriers of two drives and their doubles.
    pub(super) fn beating_tones(&mut self, accel: &mut [f64]) {
        let (carrier, apart) = (self.carrier_hz(), self.defect_line_hz());
        let size = self.random.random_range(0.3..3.0);
        for harmonic in [1.0, 2.0] {
            self.add_tone(accel, harmonic * carrier, size / harmonic);
            self.add_tone(accel, harmonic * (carrier + apart), size / harmonic);
        }
    }

    /// A few to hundreds of discharges a second, each shorter than a few periods.
    pub(super) fn discharges(&mut self, accel: &mut [f64]) {
        let each = self.random.random_range(0.002..0.1);
        let times = self.times(|random| -each * random.random_range(1e-9..1.0_f64).ln());
        self.ring(accel, &times, 0.3);
    }
}
