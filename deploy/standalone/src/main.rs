//! The program `pdm`: broker, edge and agent in one process.
fn main() {}
