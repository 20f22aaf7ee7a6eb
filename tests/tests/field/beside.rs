//! What people look at already: the files of `deploy/` for Home Assistant, Node-RED and Grafana
//! work with what the programs really publish and store.

mod grafana;
mod home_assistant;
mod node_red;
