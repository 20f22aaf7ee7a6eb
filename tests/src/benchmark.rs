//! What the benchmark binary is made of, one module a question.

pub mod runs;
