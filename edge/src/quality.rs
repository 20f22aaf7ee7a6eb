//! Can this signal be judged at all? (R-EDGE-5)
