//! Tests that one gateway, one file, one web page or one server can do nothing to the rest. The
//! real programs and real brokers, the shipped configuration of Mosquitto among them, with one
//! party that attacks or hangs. Each test is named by its claim. R-RUN-2, R-EDGE-10, R-AGENT-1.

mod answers;
mod bounds;
mod broker;
mod ceiling;
mod doors;
mod entry;
mod files;
mod flood;
mod hanging;
mod http;
mod identity;
mod open_plant;
mod plant;
mod programs;
mod quotas;
mod revoked;
mod sequences;
mod soak;
mod soak_of_all;
mod statuses;
mod streams;
mod time;
