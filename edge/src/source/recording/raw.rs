//! The result of a reader of a format: the shape of a file, its statements, and its raw numbers.

use ndarray::Array2;
use pdm_shared::time::Timestamp;

use super::{NumberEncoding, SourceError, StatedChannel};
use crate::source::time_axis::TimeAxis;

/// Raw numbers of a file, snapshot by snapshot.
pub(crate) trait RawSnapshots: Send {
    /// The next snapshot, channel × sample, or `None` at the end.
    fn next_snapshot(&mut self) -> Result<Option<Array2<f64>>, SourceError>;

    /// Skips one snapshot; false at the end.
    fn skip_snapshot(&mut self) -> Result<bool, SourceError> {
        self.next_snapshot().map(|snapshot| snapshot.is_some())
    }
}

/// An opened file: its shape and its numbers.
pub(crate) struct RawRecording {
    /// The format, as a person calls it: `WAV`, `MAT level 5`, `TDMS`.
    pub(crate) format: &'static str,
    /// The channels in the order of the rows of a snapshot, as the file describes them. Time
    /// columns that the reader used for the rate are not among them.
    pub(crate) channels: Vec<StatedChannel>,
    pub(crate) samples: usize,
    pub(crate) snapshots: u64,
    /// Sampling rate stated in the file, Hz.
    pub(crate) stated_rate_hz: Option<f64>,
    /// Time of the first sample stated in the file.
    pub(crate) stated_start: Option<Timestamp>,
    /// This time is one of a clock whose zone nothing states, written as if it were UTC.
    pub(crate) is_start_local: bool,
    /// Where this time stands in the file.
    pub(crate) start_origin: Option<String>,
    /// The course of the time column, where the reader has taken it out itself.
    pub(crate) time: Option<TimeAxis>,
    /// Gaps that remarks among the samples tell of.
    pub(crate) gaps_told: u64,
    /// How often the times of a column step back: such a column gives no rate.
    pub(crate) time_steps_back: u64,
    /// Where the times begin anew, in words: another recording stands below the first one.
    pub(crate) time_restart: Option<String>,
    /// Columns that the reader has left out, each with the reason.
    pub(crate) left_out: Vec<String>,
    /// Notes on the reading for the person.
    pub(crate) notes: Vec<String>,
    /// The vector of frequencies over which the channels are a spectrum.
    pub(crate) spectrum_over: Option<String>,
    /// Arrays and columns that this reader cannot read, each with the reason.
    pub(crate) unread: Vec<String>,
    pub(crate) reader: Box<dyn RawSnapshots>,
}

impl RawRecording {
    /// Takes a start from a field beside the samples, with whether its zone is stated nowhere,
    /// where the samples themselves state none.
    pub(super) fn start_at(&mut self, start: Option<(Timestamp, bool)>) {
        if let (None, Some((at, is_local))) = (self.stated_start, start) {
            (self.stated_start, self.is_start_local) = (Some(at), is_local);
            self.start_origin = Some("a field beside the samples".to_owned());
        }
    }

    /// A file whose only snapshot is in memory, and that states nothing of its channels but their
    /// encoding.
    pub(crate) fn whole(
        format: &'static str,
        data: Array2<f64>,
        stated_rate_hz: Option<f64>,
        encoding: NumberEncoding,
    ) -> Self {
        let channel = StatedChannel { encoding, ..StatedChannel::default() };
        let channels = vec![channel; data.nrows()];
        Self::described(format, data, channels, stated_rate_hz)
    }

    /// A file whose only snapshot is in memory, with a description of each channel.
    pub(crate) fn described(
        format: &'static str,
        data: Array2<f64>,
        channels: Vec<StatedChannel>,
        stated_rate_hz: Option<f64>,
    ) -> Self {
        let samples = data.ncols();
        let reader = Box::new(InMemory(Some(data)));
        Self { stated_rate_hz, ..Self::read_by(format, channels, (samples, 1), reader) }
    }

    /// Creates a file of this many samples and snapshots that a reader reads, which states no rate
    /// and no time.
    pub(super) const fn read_by(
        format: &'static str,
        channels: Vec<StatedChannel>,
        (samples, snapshots): (usize, u64),
        reader: Box<dyn RawSnapshots>,
    ) -> Self {
        Self {
            format,
            channels,
            samples,
            snapshots,
            stated_rate_hz: None,
            stated_start: None,
            is_start_local: false,
            start_origin: None,
            time: None,
            gaps_told: 0,
            time_steps_back: 0,
            time_restart: None,
            left_out: Vec::new(),
            notes: Vec::new(),
            spectrum_over: None,
            unread: Vec::new(),
            reader,
        }
    }
}

/// The only snapshot of a file, in memory.
pub(super) struct InMemory(pub(super) Option<Array2<f64>>);

impl RawSnapshots for InMemory {
    fn next_snapshot(&mut self) -> Result<Option<Array2<f64>>, SourceError> {
        Ok(self.0.take())
    }
}
