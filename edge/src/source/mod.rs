//! Where vibration comes from: recordings, streams, the simulator.
