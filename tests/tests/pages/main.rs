//! Pages and API of the running agent: in a real browser, and by HTTP.

mod api;
mod attacks;
mod browser;
mod captured;
mod chat;
mod clock;
mod entry;
mod floor;
mod fuzzed;
mod library;
mod live;
mod offline;
mod orders;
mod phone;
mod plant;
mod provided;
mod removal;
mod reports;
mod roles;
mod seen;
mod served;
mod settings;
mod spectrum;
mod speed;
mod wide;
mod workbooks;
