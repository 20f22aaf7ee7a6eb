//! Warnings of `check` on who hears: gaps of rotas, levels that no way asks for, addresses that
//! most mail servers do not take.

use pdm_routes::{Gap, Rota};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::risk::RiskLevel;

use crate::notify::email::Email;
use crate::notify::policy::Policy;
use crate::settings::AgentSettings;

/// Days for which rotas are looked through, and the gaps of one that are told.
const GAP_DAYS: u32 = 28;
const GAPS: usize = 5;

/// The levels that alarms have and that no way to staff asks for. No error: a plant may want to be
/// called for Criticals alone.
pub(super) fn unheard(settings: &AgentSettings) -> Option<String> {
    let policy = Policy::new(settings.notify.clone(), settings.broker.prefix.clone());
    // a Watch asks for a further measurement, and ways ask for Warnings by default
    let levels = [RiskLevel::Warning, RiskLevel::Critical];
    let unheard = levels.into_iter().filter(|level| *level >= settings.notify.from);
    let unheard: Vec<&str> = unheard
        .filter(|level| policy.everybody(*level).is_empty())
        .map(RiskLevel::as_str)
        .collect();
    (!unheard.is_empty()).then(|| {
        format!(
            "notify: no way to staff asks for {}: such an alarm stands on the pages and on the \
             broker's topic alone (`from` of e-mail, web hooks and people)",
            unheard.join(", ")
        )
    })
}

/// Addresses that most mail servers do not take.
pub(super) fn addresses(settings: &AgentSettings) -> Vec<String> {
    let everybody = settings.notify.email.iter().flat_map(|email| &email.to);
    let people = settings.notify.recipient.iter().filter_map(|one| one.email.as_ref());
    Email::beyond_ascii(everybody.chain(people))
        .map(|address| {
            format!(
                "e-mail {address}: letters beyond ASCII, which the mail server has to take with \
                 SMTPUTF8 (RFC 6531); else nobody hears by this address"
            )
        })
        .collect()
}

/// The times of the next four weeks in which nobody is on duty, a line for each rota that has some.
/// No error: the next step of a route hears then, or everybody.
pub(super) fn gaps(settings: &AgentSettings) -> Vec<String> {
    let now = SystemClock.now();
    let notify = &settings.notify;
    let of = |rota: &Rota| {
        let gaps = rota.gaps(notify.zone, now, GAP_DAYS);
        let zone = rota.zone.unwrap_or(notify.zone);
        let shown = |gap: &Gap| {
            let at = |at| zone.local(at).format("%Y-%m-%d %H:%M");
            format!("nobody on duty from {} to {}", at(gap.from), at(gap.to))
        };
        let first: Vec<String> = gaps.iter().take(GAPS).map(shown).collect();
        let more = gaps.len().saturating_sub(GAPS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let name = &rota.name;
        (!gaps.is_empty()).then(|| format!("rota {name}: {}{more}", first.join(", ")))
    };
    notify.rota.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// R-AGENT-10. A Warning of such a plant stood on the broker's topic alone, and `check` was
    /// content.
    #[test]
    fn a_level_that_no_way_asks_for_is_said() {
        let warned = |from: &str| {
            let text = format!(
                "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:1883\"]\n\
                 [[notify.webhook]]\nname = \"ops\"\nurl = \"http://127.0.0.1:1/\"\n\
                 from = \"{from}\"\n"
            );
            unheard(&AgentSettings::parse(Path::new("agent.toml"), &text).expect("settings"))
        };
        let warning = warned("Critical").expect("a warning");
        assert!(warning.contains("asks for Warning: such an alarm"), "{warning}");
        assert_eq!(warned("Warning"), None);
    }
}
