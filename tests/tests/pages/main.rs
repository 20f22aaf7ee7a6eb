//! Pages and API of the running agent: in a real browser, and by HTTP.

mod api;
mod browser;
mod entry;
mod plant;
mod seen;
