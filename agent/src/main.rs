//! The program `pdm-agent`.
fn main() {}
