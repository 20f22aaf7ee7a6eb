//! Decides how many rows of the outbox are claimed at once: at most a number of rows, and about a
//! number of bytes, so that rows of any size leave without filling the memory.

/// Bytes of one claim. Chosen: 256 diagnoses of usual size have 2 MB, so the number of rows bounds
/// a usual claim and the bytes an unusual one.
const BYTES: usize = 8 * 1024 * 1024;
/// Rows of the first claim, whose sizes are not known yet: at a megabyte each, which earlier
/// versions stored, they have four times [`BYTES`].
const FIRST: u32 = 32;

/// The size of the next claim, learnt from the last one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portion {
    rows: u32,
    most: u32,
}

impl Portion {
    /// Claims of at most `most` rows.
    pub(super) fn of(most: u32) -> Self {
        Self { rows: FIRST.min(most), most }
    }

    /// Rows of the next claim.
    pub(super) const fn rows(self) -> u32 {
        self.rows
    }

    /// Learns from a claim of `rows` rows and `bytes` bytes: the next claim has as many rows as
    /// would have fitted, and at most twice as many as this one was allowed.
    pub(super) fn took(&mut self, rows: usize, bytes: usize) {
        let fitting = BYTES / (bytes / rows.max(1)).max(1);
        let fitting = u32::try_from(fitting).unwrap_or(u32::MAX);
        self.rows = fitting.min(self.rows.saturating_mul(2)).clamp(1, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_bounded_by_bytes_as_well_as_by_rows() {
        let mut portion = Portion::of(256);
        for _ in 0..4 {
            portion.took(portion.rows() as usize, portion.rows() as usize * 8000);
        }
        assert_eq!(portion.rows(), 256, "usual rows");
        portion.took(256, 256 * 1024 * 1024);
        assert_eq!(portion.rows(), 8, "rows of a megabyte");
        portion.took(1, 100 * 1024 * 1024);
        assert_eq!(portion.rows(), 1, "one at least");
    }
}
