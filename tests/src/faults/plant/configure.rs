//! The configurations of a plant's programs.

use std::fmt::{Error, Write as _};

use super::{BEARINGS, Plant, STARTED_AT};
use crate::faults::store::StorePlace;

/// Damage of the bearings, in turn.
const DAMAGES: [&str; 4] = ["outer_race", "inner_race", "ball", "outer_race"];

impl Plant {
    pub(super) fn agent_toml(&self) -> String {
        let store = match &self.place {
            StorePlace::Sqlite(file) => format!("[store]\nsqlite = \"{}\"\n", file.display()),
            StorePlace::Postgres(_) => {
                let port = self.database.as_ref().map_or(0, |database| database.network.port());
                let knowledge = self.folder.path().join("agent/knowledge.db");
                format!(
                    "[store.postgres]\nurl = \"postgres://pdm@127.0.0.1:{port}/postgres\"\n\
                     [knowledge]\nstore = {{ sqlite = \"{}\" }}\n",
                    knowledge.display()
                )
            }
        };
        let mail = self.mail.as_ref().map_or_else(String::new, |mail| {
            format!(
                "[notify.email]\nhost = \"127.0.0.1\"\nport = {}\nsecurity = \"none\"\n\
                 from_address = \"pdm@plant.example\"\nto = [\"staff@plant.example\"]\n",
                mail.port()
            )
        });
        // the forms of the program on a server, a hook's own file on SQLite: both reach the same
        // receiver
        let form = match &self.place {
            StorePlace::Sqlite(_) => "template = \"staff.toml\"\n",
            StorePlace::Postgres(_) => "",
        };
        // the oracle holds every notification as an obligation: none is held back for a summary,
        // none is told with another's, and none past the store, which keeps no account of it
        format!(
            "{store}[silence]\nstore_after_s = 0.0\n[intake]\nrival_silent_s = 1.0\n\
             [broker]\naddresses = [\"127.0.0.1:{}\"]\nkeep_alive_s = 5\n\
             [notify]\nrepeat_after_h = 0.001\nrepeat_limit = 3\ngroup_wait_s = 0.5\n\
             related_within_min = 0.0\nper_recipient_per_hour = 10000\n\
             {mail}[[notify.webhook]]\nname = \"staff\"\n{form}url = \"{}\"\n",
            self.agent_network.port(),
            self.receiver.url()
        )
    }

    /// The configuration of an edge; `per_s` is the number of windows of a bearing in a second.
    pub(super) fn edge_toml(&self, number: usize, per_s: f64) -> Result<String, Error> {
        let gateway = &self.gateways[number];
        let (name, bearings) = &self.windows.gateways[number];
        let period_s = self.windows.period_ms as f64 / 1000.0;
        let pace = per_s * period_s;
        let mut text = format!(
            "gateway_id = \"{name}\"\nsite = \"plant\"\nshutdown_grace_s = 20.0\n\
             [broker]\naddresses = [\"127.0.0.1:{}\"]\nkeep_alive_s = 5.0\n\
             reconnect_min_s = 0.05\nreconnect_max_s = 0.5\nlate_after_s = 2.0\n\
             [spool]\npath = \"{}\"\n",
            gateway.network.port(),
            gateway.spool.display()
        );
        for (place, bearing) in bearings.iter().enumerate() {
            let (equipment, bearing) = bearing.split_once('/').unwrap_or((bearing, "DE"));
            write!(
                text,
                "[[source]]\nname = \"{equipment}\"\nkind = \"simulator\"\npace = {pace:?}\n\
                 rate_hz = 6400.0\nperiod_s = {period_s:?}\nstarted_at = \"{STARTED_AT}\"\n\
                 [source.simulator]\nfault = \"{}\"\nsnapshots = {}\nsnapshot_s = 0.32\nseed = {}\n\
                 [[source.channel]]\nequipment = \"{equipment}\"\nbearing = \"{bearing}\"\n\
                 bearing_type = \"6205\"\nrpm = 1797.0\n\
                 [source.channel.condition]\nbaseline_windows = 20\nrun_in_windows = 0\n",
                DAMAGES[place % DAMAGES.len()],
                self.windows.snapshots,
                number * BEARINGS + place + 1
            )?;
        }
        Ok(text)
    }
}
