//! Tells who hears of an alarm, and when: the routes for the chat.

use pdm_shared::risk::RiskLevel;

/// A step of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlarmStep {
    /// Minutes after the first message, as long as nobody acknowledges.
    pub after_minutes: u32,
    /// People, groups, rotas and channels, as the route names them.
    pub to: Vec<String>,
    /// The people and channels behind these names now.
    pub people: Vec<String>,
}

/// A route of alarms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlarmRoute {
    /// Its name.
    pub name: String,
    /// Sites whose alarms it takes; empty for every site.
    pub sites: Vec<String>,
    /// Machines, as the sites.
    pub equipment: Vec<String>,
    /// The lowest level.
    pub from: Option<RiskLevel>,
    /// The highest level.
    pub to: Option<RiskLevel>,
    /// It holds in some hours of the week alone.
    pub is_of_hours: bool,
    /// Its steps, in the order of their time.
    pub steps: Vec<AlarmStep>,
}
