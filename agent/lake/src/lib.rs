//! The archive: everything that an agent's store has had, as Delta tables in a folder or on S3.
//!
//! The flow: [`source`] reads closed days of a store (or [`spill`] the lines of an import) →
//! [`archive`] writes what is missing, one file ([`file`]) and one commit ([`lake`]) a table and
//! day, reads it back and marks the day ([`record`]) → [`verify`], [`slice`] and every reader of
//! Delta Lake read it.
//!
//! Invariants: nothing is written to a store; a row that was committed is never removed by
//! `export`, `run` or `import`; a row comes into the archive once, whoever was killed, stopped or
//! writes beside.

pub mod archive;
pub mod batch;
pub mod cli;
pub mod day;
pub mod error;
pub mod event;
pub mod file;
pub mod lake;
pub mod order;
pub mod place;
pub mod record;
pub mod slice;
pub mod source;
pub mod spill;
pub mod table;
pub mod turn;
pub mod value;
pub mod verify;
