//! Compares a configuration that is read again while the edge runs with the present one: a file
//! that is cut off in the middle of its writing can still be a valid one.
//!
//! A reload is refused if it takes away every source, the broker, or the address that health is
//! asked at. Whoever means it restarts the program.

use super::{BrokerSettings, EdgeSettings};

impl EdgeSettings {
    /// Returns what `renewed` lacks that no reload may take away, in words; `None` if it may be
    /// taken over.
    pub fn torn_off_in(&self, renewed: &Self) -> Option<String> {
        let lost = if !self.sources.is_empty() && renewed.sources.is_empty() {
            "every source ([[source]])"
        } else if is_named(&self.broker) && !is_named(&renewed.broker) {
            "the broker ([broker])"
        } else if self.admin.is_some() && renewed.admin.is_none() {
            "the address of health and metrics ([admin])"
        } else {
            return None;
        };
        Some(format!(
            "it lacks {lost}, which the gateway has now: a file that was cut off while it was \
             written looks like this. Complete it and send SIGHUP again, or start the program anew \
             if this is meant"
        ))
    }
}

/// Whether the configuration names its broker.
fn is_named(broker: &BrokerSettings) -> bool {
    broker.addresses != BrokerSettings::default().addresses
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::settings::{EdgeSettings, parse};

    const WHOLE: &str = "gateway_id = \"gw-01\"\nsite = \"ulsan-1\"\n[spool]\npath = \"s.db\"\n\
        [broker]\naddresses = [\"broker.plant:1883\"]\n[admin]\nlisten = \"127.0.0.1:9100\"\n\
        [[source]]\nname = \"pump\"\nkind = \"simulator\"\nrate_hz = 12800.0\n\
        [source.simulator]\nfault = \"outer_race\"\nsnapshots = 4\nsnapshot_s = 1.0\nseed = 1\n\
        [[source.channel]]\nchannel = 0\nequipment = \"P-101\"\nbearing = \"DE\"\n\
        measuring_point = \"DE-H\"\nbearing_type = \"6205\"\nrpm = 1797.0\n\
        machine_group = \"medium_rigid\"\n";

    fn read(text: &str) -> EdgeSettings {
        parse(Path::new("edge.toml"), text).expect("valid").0
    }

    /// R-EDGE-11
    #[test]
    fn a_file_that_was_cut_off_takes_no_source_broker_or_address_away() {
        let whole = read(WHOLE);
        assert_eq!(whole.torn_off_in(&whole), None);
        for (cut, lacks) in [("[[source]]", "[[source]]"), ("[broker]", "[[source]]")] {
            let (head, _cut_off) = WHOLE.split_once(cut).expect("there");
            let told = whole.torn_off_in(&read(head)).expect("refused");
            assert!(told.contains(lacks), "{told}");
        }
        let lacks = |gone: &str| {
            let told = whole.torn_off_in(&read(&WHOLE.replace(gone, "")));
            told.unwrap_or_else(|| panic!("taken over without {gone}"))
        };
        assert!(lacks("[broker]\naddresses = [\"broker.plant:1883\"]\n").contains("the broker"));
        assert!(lacks("[admin]\nlisten = \"127.0.0.1:9100\"\n").contains("health and metrics"));
    }
}
