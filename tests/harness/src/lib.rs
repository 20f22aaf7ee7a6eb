//! The parts of the test machine that the tests of all crates use: real servers in temporary
//! folders on free ports; a network, a disk and a clock that fail on demand; a device that samples;
//! the folder of real recordings; child processes that end with the test, and their memory; and the
//! one way to report that a test was not run.
//!
//! This crate does not depend on any other crate of the project.

mod authority;
mod disk;
mod faketime;
mod http_request;
mod memory;
mod model;
mod mosquitto;
mod mqtt_packets;
mod needs;
mod planted;
mod postgres;
mod process;
mod proxy;
mod python;
mod qdrant;
mod sampler;
mod shipped;
mod smtp;
mod wait;
mod web;

pub use authority::Authority;
pub use disk::SmallDisk;
pub use faketime::WallClock;
pub use http_request::{header, whole_request};
pub use memory::{Held, HeldOverTime};
pub use model::{ModelReply, ModelStandIn, request_violations};
pub use mosquitto::{Mosquitto, Persistence};
pub use mqtt_packets::MqttPackets;
pub use needs::{data_dir, not_run, outside_server, program};
pub use planted::{Planted, PlantedSeries, planted, planted_set};
pub use postgres::Postgres;
pub use process::{Child, binary, free_port};
pub use proxy::{Network, Proxy, Watcher};
pub use python::PythonPackage;
pub use qdrant::QdrantStandIn;
pub use sampler::sampler;
pub use shipped::shipped_mosquitto;
pub use smtp::Smtp;
pub use wait::{PATIENCE, until};
pub use web::Https;
