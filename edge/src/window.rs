//! Blocks of channel × sample cut into windows of equal length.
