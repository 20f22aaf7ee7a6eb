//! Samples of a live source that fill no window: bursts that are shorter, and the rest of longer
//! ones.
//!
//! Invariant: samples that are not measured are counted, logged once, and shown in `/healthz` with
//! the setting that decides.

use crate::remarks::Remarks;

/// The samples between two gaps.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    blocks: u64,
    samples: u64,
    windows: u64,
}

/// Follows what is cut into windows and what is left.
#[derive(Debug)]
pub(super) struct LeftOut {
    source: String,
    remarks: Remarks,
    rate_hz: f64,
    window_s: Option<f64>,
    run: Run,
    dropped: u64,
    is_told: bool,
}

impl LeftOut {
    /// For windows of this length; `None`: every block is one.
    pub(super) fn new(
        source: String,
        remarks: Remarks,
        (rate_hz, window_s): (f64, Option<f64>),
    ) -> Self {
        Self { source, remarks, rate_hz, window_s, run: Run::default(), dropped: 0, is_told: false }
    }

    /// Notes that a block of `samples` samples gave `windows` windows; `dropped`: samples that gaps
    /// cut off so far.
    pub(super) fn pushed(
        &mut self,
        (follows_on, samples): (bool, usize),
        windows: usize,
        dropped: u64,
    ) {
        let Some(window_s) = self.window_s else { return };
        let left = dropped.saturating_sub(std::mem::replace(&mut self.dropped, dropped));
        if !follows_on {
            let run = std::mem::take(&mut self.run);
            self.judge(run, left, window_s);
        }
        self.run.blocks += 1;
        self.run.samples += samples as u64;
        self.run.windows += windows as u64;
    }

    fn judge(&mut self, run: Run, left: u64, window_s: f64) {
        let Run { blocks, samples, windows } = run;
        if left > 0 {
            metrics::counter!("pdm_edge_samples_left_out_total", "source" => self.source.clone())
                .increment(left);
        }
        let length_s = samples as f64 / self.rate_hz;
        let text = if left > 0 && windows == 0 {
            let most_s = (length_s * 1000.0).floor() / 1000.0;
            format!(
                "{samples} samples without a gap ({length_s:.4} s) are shorter than a window \
                 ({window_s} s) and not measured; window_s = {most_s} measures them"
            )
        } else if left > 0 && blocks == 1 {
            format!(
                "{left} of the {samples} samples of a burst fill no window of {window_s} s and are \
                 not measured; window_s decides"
            )
        } else if windows > 0 {
            // the end of a long stream before a gap is told with the gap
            if std::mem::take(&mut self.is_told) {
                self.remarks.withdraw(&self.source, "window");
            }
            return;
        } else {
            return;
        };
        if !std::mem::replace(&mut self.is_told, true) {
            tracing::error!(source = self.source, "{text}");
        }
        self.remarks.set(&self.source, "window", text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_shorter_than_a_window_and_the_rest_of_longer_ones_are_told() {
        let remarks = Remarks::default();
        let window = (2560.0, Some(1.0));
        let mut left_out = LeftOut::new("bench".to_owned(), remarks.clone(), window);
        let told = || remarks.lines().join("");
        // 2559 of 2560 samples
        left_out.pushed((false, 2559), 0, 0);
        left_out.pushed((false, 2559), 0, 2559);
        assert!(told().contains("window_s = 0.999 measures them"), "{}", told());
        // the same, joined, since nothing is missing between them
        left_out.pushed((false, 2559), 0, 2 * 2559);
        left_out.pushed((true, 2559), 1, 2 * 2559);
        left_out.pushed((false, 2560), 1, 2 * 2559 + 2558);
        assert_eq!(told(), "", "the rest of a run before a gap is no news");
        // 1.5 s
        left_out.pushed((false, 3840), 1, 2 * 2559 + 2558);
        left_out.pushed((false, 3840), 1, 2 * 2559 + 2558 + 1280);
        assert!(told().contains("1280 of the 3840 samples"), "{}", told());
        left_out.pushed((false, 2560), 1, 2 * 2559 + 2558 + 2 * 1280);
        left_out.pushed((false, 2560), 1, 2 * 2559 + 2558 + 2 * 1280);
        assert_eq!(told(), "");
    }
}
