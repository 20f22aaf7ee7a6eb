//! `edge.toml`: what was typed, and what is meant after validation.
