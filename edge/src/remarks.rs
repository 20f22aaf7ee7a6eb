//! The faults of a source that goes on: a file that is set aside, a message of another form, a rate
//! that is not the configured one.
//!
//! Sources write a remark where they find the fault and withdraw it once the fault has gone; the
//! admin listener shows the remarks in `/healthz`. Invariants: one remark for each source and
//! matter; a remark that no longer holds is not shown.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name in place of a source: the configuration of the program.
const PROGRAM: &str = "";

/// The matters in which a source that is named delivers nothing.
const DEAD: [&str; 4] = [LOST, "silence", "folder", CLOCK];
/// The matter of a source that cannot be opened again.
pub(crate) const LOST: &str = "lost";
/// The matter of a source whose windows cannot be dated, because the gateway's clock was never set.
pub(crate) const CLOCK: &str = "clock";

/// The remarks of a running edge. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Remarks(Arc<Mutex<BTreeMap<(String, &'static str), String>>>);

impl Remarks {
    /// States what is wrong with a source in one matter; replaces the remark before.
    pub fn set(&self, source: &str, matter: &'static str, text: String) {
        self.lock().insert((source.to_owned(), matter), text);
    }

    /// States that a configuration that was read again is refused.
    pub fn refuse_configuration(&self, why: &str) {
        let text = format!("the new configuration is refused, the one of before stays: {why}");
        self.set(PROGRAM, "configuration", text);
    }

    /// Withdraws a remark.
    pub fn withdraw(&self, source: &str, matter: &'static str) {
        self.lock().remove(&(source.to_owned(), matter));
    }

    /// The remarks that staff hears of, as lines: sources that deliver nothing, so that what they
    /// measure is not watched, and a configuration that is refused, so that what it adds is not.
    pub fn troubles(&self) -> Vec<String> {
        let all = self.lock();
        let is_trouble =
            |(source, matter): &(String, &'static str)| source == PROGRAM || DEAD.contains(matter);
        // of the program last: a source that is dead is worse
        let mut lines: Vec<_> = all.iter().filter(|(key, _)| is_trouble(key)).collect();
        lines.sort_by_key(|((source, _), _)| source == PROGRAM);
        lines.into_iter().map(line).collect()
    }

    /// Returns the faults without the names of the sources, and without the remark that nothing
    /// comes.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let all = self.lock();
        let reasons = all.iter().filter(|((_, matter), _)| *matter != "silence");
        reasons.map(|(_, text)| text.clone()).collect()
    }

    /// The remarks as lines, by source.
    pub fn lines(&self) -> Vec<String> {
        self.lock().iter().map(line).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, &'static str), String>> {
        // an entry changes in one statement, so a panic elsewhere cannot leave a half-made one
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn line(((source, _), text): (&(String, &'static str), &String)) -> String {
    if source == PROGRAM { text.clone() } else { format!("source {source}: {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_stands_until_it_is_withdrawn() {
        let remarks = Remarks::default();
        remarks.set("press", "files", "1 file is set aside".to_owned());
        remarks.clone().set("press", "files", "2 files are set aside".to_owned());
        assert_eq!(remarks.lines(), ["source press: 2 files are set aside"]);
        remarks.withdraw("press", "files");
        assert!(remarks.lines().is_empty());
    }

    /// R-EDGE-11
    #[test]
    fn a_refused_configuration_is_of_no_source_and_staff_hears_of_it_after_dead_sources() {
        let remarks = Remarks::default();
        remarks.refuse_configuration("edge.toml:3:1: unknown field `colour`");
        let said = "the new configuration is refused, the one of before stays: edge.toml:3:1: \
            unknown field `colour`";
        assert_eq!(remarks.lines(), [said]);
        assert_eq!(remarks.troubles(), [said]);
        remarks.set("press", LOST, "connection refused".to_owned());
        assert_eq!(remarks.troubles(), ["source press: connection refused", said]);
    }

    /// Issue 33, point 2: a source that delivers nothing is the gateway's trouble, a wrong rate is
    /// not.
    #[test]
    fn a_source_that_delivers_nothing_is_dead() {
        let remarks = Remarks::default();
        remarks.set("press", "rate", "the rate is 25,601 Hz".to_owned());
        remarks.set("fan", CLOCK, "nothing is measured".to_owned());
        assert_eq!(remarks.troubles(), ["source fan: nothing is measured"], "a clock of 1970");
        remarks.withdraw("fan", CLOCK);
        assert!(remarks.troubles().is_empty());
        remarks.set("press", LOST, "connection refused".to_owned());
        assert_eq!(remarks.troubles(), ["source press: connection refused"]);
    }
}
