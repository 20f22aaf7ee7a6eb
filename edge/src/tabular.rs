//! Text of numbers as people have it: encodings, lines, separators, numbers, calendar times.
//!
//! Used by the reader of recordings as text and by the tables of `series`. Invariant: what has two
//! readings is refused with both, and with the option that decides.

pub mod calendar;
pub mod encoding;
pub mod fields;
pub mod number;
pub mod sentinel;
pub mod width;
pub mod zone;

pub use calendar::{DateOrder, Stamp};
pub use number::{Decimal, NumberForm};
pub use zone::LocalZone;
