//! Pictures and sound of a captured waveform, for people who look and listen.
//!
//! [`wav`] reads the file of a capture and holds it against its document, [`pictures`] computes
//! what a page draws (waveform, spectrum, envelope spectrum, cepstrum, order spectrum), thinned to
//! the width of the plot, [`sound`] makes a file that every browser plays, [`npy`] one that NumPy
//! reads.
//!
//! Pure: bytes and a document come in, numbers go out. Invariant: nothing of this goes into a
//! judgement, a memory, a message or an answer; what is judged was measured by the gateway
//! (R-AGENT-2).

pub mod npy;
pub mod pictures;
pub mod sound;
pub mod wav;

pub use npy::npy_of;
pub use pictures::{Curve, CurvePoint, DrawingOptions, Mark, Pictures, Ranges, draw_pictures};
pub use sound::pcm_sound;
pub use wav::{WavError, WavHead, samples_of, wav_head};
