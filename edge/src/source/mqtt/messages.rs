//! The forms of a topic's messages, and the decoder of each form.

use pdm_shared::packed::packed_form;

use crate::source::decoder::{StreamDecoder, StreamForm, StreamFormat};
use crate::source::json_burst::{BurstDecoder, JsonForm};
use crate::source::sparkplug::{Received, Refusal, SparkplugDecoder, SparkplugForm};
use crate::source::{Block, SourceHost};

/// The form of a topic's messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum MessageForm {
    /// Frames, raw or with a header.
    #[default]
    Frames,
    /// Bursts in JSON.
    Json(Box<JsonForm>),
    /// Metrics of Sparkplug B.
    Sparkplug(Box<SparkplugForm>),
}

/// The decoder of a topic's messages.
pub(super) enum TopicDecoder {
    Frames(Box<StreamDecoder>, usize),
    Json(Box<BurstDecoder>),
    Sparkplug(Box<SparkplugDecoder>),
}

impl TopicDecoder {
    /// A decoder for messages of a form.
    pub(super) fn new(messages: &MessageForm, format: &StreamFormat, host: &SourceHost) -> Self {
        let frames = &format.frames;
        let (tolerance, given) = (format.rate_tolerance, (frames.clone(), host.clone()));
        match messages {
            MessageForm::Json(form) => {
                let decoder = BurstDecoder::new((**form).clone(), given.0, tolerance, given.1);
                Self::Json(Box::new(decoder))
            }
            MessageForm::Sparkplug(form) => {
                let decoder = SparkplugDecoder::new((**form).clone(), given.0, tolerance, given.1);
                Self::Sparkplug(Box::new(decoder))
            }
            MessageForm::Frames => {
                let whole = if format.form == StreamForm::Raw { frames.frame_bytes() } else { 1 };
                Self::Frames(Box::new(StreamDecoder::new(format, given.1)), whole)
            }
        }
    }

    /// The next block.
    pub(super) fn block(&mut self) -> Result<Option<Block>, String> {
        match self {
            Self::Frames(decoder, _) => decoder.block(),
            Self::Json(decoder) => Ok(decoder.block()),
            Self::Sparkplug(decoder) => Ok(decoder.block()),
        }
    }

    /// Samples were lost.
    pub(super) fn gap(&mut self) {
        match self {
            Self::Frames(decoder, _) => decoder.gap(),
            Self::Json(_) => {}
            Self::Sparkplug(decoder) => decoder.gap(),
        }
    }

    /// The connection is new.
    pub(super) fn begin_anew(&mut self) {
        match self {
            Self::Sparkplug(decoder) => decoder.begin_anew(),
            Self::Frames(..) | Self::Json(_) => self.gap(),
        }
    }

    /// Takes a message.
    pub(super) fn push(&mut self, topic: &str, payload: &[u8]) -> Result<Received, Refusal> {
        self.check_unpacked(payload)?;
        let taken = match self {
            Self::Frames(decoder, whole) => frames_in(payload, *whole)
                .and_then(|()| decoder.push(payload))
                .map(|()| Received::Samples),
            Self::Json(decoder) => decoder.push(topic, payload),
            Self::Sparkplug(decoder) => return decoder.push(topic, payload),
        };
        taken.map_err(Refusal::from)
    }

    /// Refuses a message that is compressed, by the name of its form: its bytes are no samples, and
    /// read as raw frames they would be noise of a machine that runs. Two bytes alone may be a
    /// sample.
    fn check_unpacked(&self, payload: &[u8]) -> Result<(), String> {
        let is_text = matches!(self, Self::Json(_));
        match packed_form(payload).filter(|form| form.is_certain || is_text) {
            None => Ok(()),
            Some(form) => Err(format!(
                "a message that is compressed ({}), which is not read: switch the compression of \
                 its sender or of the bridge off",
                form.name
            )),
        }
    }
}

/// Checks that a message holds whole frames, and is not a text that happens to be as long.
fn frames_in(payload: &[u8], whole: usize) -> Result<(), String> {
    let is_json = matches!(payload.first(), Some(b'{' | b'['))
        && serde_json::from_slice::<serde::de::IgnoredAny>(payload).is_ok();
    if is_json {
        return Err(
            "JSON, but frames are configured; a table [source.stream.json] reads it".to_owned()
        );
    }
    if payload.is_empty() || !payload.len().is_multiple_of(whole) {
        let length = payload.len();
        return Err(format!("{length} bytes are no whole number of frames of {whole} bytes"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pdm_service::clock::SystemClock;
    use pdm_shared::units::SampleRate;

    use super::*;
    use crate::source::frames::{Encoding, FrameFormat};

    /// R-EDGE-1: a bridge that compresses made noise of a machine that runs.
    #[test]
    fn a_compressed_message_is_no_frame_and_no_burst() {
        let frames = FrameFormat {
            channels: 1,
            sample_rate: SampleRate::new(1000.0).expect("valid"),
            encoding: Encoding::I16,
            block_samples: 4,
            calibrations: vec![],
        };
        let format = StreamFormat { frames, form: StreamForm::Raw, rate_tolerance: 0.05 };
        let host = SourceHost::alone(Arc::new(SystemClock), "topic");
        let mut decoder = TopicDecoder::new(&MessageForm::Frames, &format, &host);
        let gzip = [0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6];
        let refusal = decoder.push("plant/raw", &gzip).expect_err("compressed");
        assert!(refusal.why.contains("compressed (gzip)"), "{}", refusal.why);
        assert!(decoder.block().expect("no failure").is_none(), "and no sample of it is kept");
        // two bytes that zlib begins with are a sample of -25480
        let samples = [0x78, 0x9c, 0, 0, 1, 0, 2, 0];
        assert!(matches!(decoder.push("plant/raw", &samples), Ok(Received::Samples)));
    }
}
