//! The report: a judgement told to a person who has to decide (R-AGENT-8, R-AGENT-11).
//!
//! ```text
//! CaseFile ─► Report (data, both languages) ─► Document (blocks, one language) ─► HTML | PDF
//!        └──► WorkOrder (data) ─────────────────────┘
//! ```
//!
//! Invariants: documents are functions of the [`CaseFile`] alone; every figure stands in it; what
//! comes from outside is data and is escaped.

pub mod case_file;

pub use case_file::{
    Asset, CaseFile, HistoryPoint, LOOK_BACK, Planning, ReasoningStep, ResearchHit, ResearchRound,
};
