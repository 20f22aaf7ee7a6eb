//! Tests of the structure: the arrows between crates, the modules inside each, and the map in
//! ARCHITECTURE.md.

mod crates;
mod map;
mod modules;
