//! How a measuring point is doing: baseline, anomaly, trend and remaining life over its snapshots.
