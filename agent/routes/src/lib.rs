//! Decides who is told of an episode, by which channel, and when: routes, rotas, escalation, quiet
//! hours.
//!
//! A table of data and two functions of it: [`RouteTable::begin`] says who hears of an alarm at
//! once, and [`RouteTable::due`] who hears of it now because nobody has acknowledged it. Instants
//! are arguments, and the state between two calls is one value that the caller stores.
//!
//! Invariants, each of them a property test: an alarm that no route takes, or for which nobody is
//! on duty, is told to everybody; quiet hours hold back Watch and nothing else, and what they held
//! back is told when they end if it still stands; a step is told once, in its order, and none after
//! an acknowledgement; what is told does not depend on how often the caller looks.

mod hours;
mod near;
mod rota;
mod route;
mod table;
mod telling;

pub use hours::{Hours, TimeOfDay, Zone};
pub use near::ToldLately;
pub use rota::{Gap, Override, Rota, Shift};
pub use route::{Route, RouteStep};
pub use table::{Group, Problem, RouteTable, Subject};
pub use telling::{Audience, Begun, Telling};

#[cfg(test)]
mod tests;
