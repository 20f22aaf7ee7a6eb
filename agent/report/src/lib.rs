//! The report: a judgement in the form for a person who has to decide (R-AGENT-8, R-AGENT-11).
//!
//! ```text
//! CaseFile ─► Report (data, both languages) ─► Document (blocks, one language) ─► HTML | pages ─► PDF
//!        └──► WorkOrder (data) ─────────────────────┘
//! ```
//!
//! [`report`] and [`work_order::work_order`] make the data, [`compose::document`] makes the
//! document in a language, [`html::html`] and [`pdf::pdf`] write the files.
//!
//! Invariants: documents are functions of the [`CaseFile`] alone, which has every figure of them;
//! foreign text is data and is escaped.

pub(crate) mod build;
pub mod case_file;
mod chart;
pub mod compose;
pub mod data;
pub mod document;
mod doubts;
pub mod drawing;
pub mod english;
pub mod files;
pub mod findings;
mod font;
pub mod gather;
pub mod grounding;
pub mod grounds;
pub mod html;
mod layout;
pub(crate) mod passages;
pub mod pdf;
mod plots;
pub mod settings;
mod svg;
pub mod waveform;
pub mod words;
pub mod work_order;

pub use build::report;
pub use case_file::{
    Asset, CaseFile, HistoryPoint, LOOK_BACK, Planning, ReasoningStep, ResearchHit, ResearchRound,
};
pub use data::{REPORT_SCHEMA, Report};
