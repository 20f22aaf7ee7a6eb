//! The bearing catalogue (`config/bearings.toml`, built in): geometry or orders by designation.
