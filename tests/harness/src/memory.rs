//! The memory of a process, read from the operating system.

use std::fmt;

/// The memory of a process at one time, bytes.
///
/// `rss` is all resident memory. Its pages of the program file are shared by all processes that run
/// it and can be dropped at any time; `anonymous` is the memory that the process has allocated
/// itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// Resident set size.
    pub rss: u64,
    /// Proportional set size: `rss` with shared pages divided by their users.
    pub pss: u64,
    /// Pages that belong to no file.
    pub anonymous: u64,
}

impl Held {
    /// Reads `/proc/PID/smaps_rollup`; `None` if the process is gone.
    pub fn by(pid: u32) -> Option<Self> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let of = |key: &str| -> Option<u64> {
            let line = text.lines().find(|line| line.starts_with(key))?;
            let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
            Some(kib * 1024)
        };
        Some(Self { rss: of("Rss:")?, pss: of("Pss:")?, anonymous: of("Anonymous:")? })
    }
}

/// The memory of a process over some time.
#[derive(Debug, Clone, Default)]
pub struct HeldOverTime(Vec<Held>);

impl HeldOverTime {
    /// Reads the memory of the process once; false if the process is gone.
    pub fn look(&mut self, pid: u32) -> bool {
        let held = Held::by(pid);
        self.0.extend(held);
        held.is_some()
    }

    /// Median RSS of the `part`th of `parts` equal stretches of the time, bytes; 0 without a
    /// reading in it.
    pub fn median_rss_of(&self, part: usize, parts: usize) -> u64 {
        let at = |part: usize| self.0.len() * part / parts.max(1);
        let stretch = self.0.get(at(part)..at(part + 1)).unwrap_or_default();
        middle(stretch, |held| held.rss)
    }
}

/// `RSS 17.0 MB at most, 15.0 in the middle; of this anonymous …` in units of 10⁶ bytes.
impl fmt::Display for HeldOverTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = |of: fn(&Held) -> u64| mb(self.0.iter().map(of).max().unwrap_or_default());
        let middle = |of: fn(&Held) -> u64| mb(middle(&self.0, of));
        write!(
            f,
            "RSS {:.1} MB at most, {:.1} in the middle; of this anonymous {:.1} and {:.1}; \
             PSS {:.1} and {:.1} ({} looks)",
            most(|held| held.rss),
            middle(|held| held.rss),
            most(|held| held.anonymous),
            middle(|held| held.anonymous),
            most(|held| held.pss),
            middle(|held| held.pss),
            self.0.len()
        )
    }
}

fn middle(held: &[Held], of: impl Fn(&Held) -> u64) -> u64 {
    let mut values: Vec<u64> = held.iter().map(of).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_holds_something_and_none_with_number_0_does() {
        let held = Held::by(std::process::id()).expect("it runs");
        assert!(held.rss >= held.pss && held.pss > 0 && held.anonymous > 0, "{held:?}");
        assert_eq!(Held::by(0), None);
    }

    #[test]
    fn figures_are_of_what_was_seen() {
        let held = |rss| Held { rss, pss: rss / 2, anonymous: rss / 4 };
        let seen = HeldOverTime([4, 8, 8, 20, 12, 16].map(|mb| held(mb * 1_000_000)).to_vec());
        assert_eq!(
            seen.to_string(),
            "RSS 20.0 MB at most, 12.0 in the middle; of this anonymous 5.0 and 3.0; \
             PSS 10.0 and 6.0 (6 looks)"
        );
        assert_eq!(seen.median_rss_of(0, 3), 8_000_000);
        assert_eq!(seen.median_rss_of(2, 3), 16_000_000);
        assert_eq!(HeldOverTime::default().median_rss_of(0, 3), 0);
    }
}
