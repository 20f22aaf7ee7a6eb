//! Titles that name their site, where the plant has more than one: a text message, a push message
//! and the subject of a mail carry little more than the title, and two sites may have a machine of
//! one name.
//!
//! The site is added when a message leaves: what the store and the broker hold has a field for it.

use pdm_shared::delivery::Notification;
use pdm_shared::text::Text;

/// The site under which the agent tells of itself; it is no place.
const NO_PLACE: &str = "pdm";

/// Returns the notifications as they are told to people of a plant of `sites` sites.
pub(super) fn sited(notifications: &[Notification], sites: usize) -> Vec<Notification> {
    notifications.iter().map(|one| if sites > 1 { with_site(one) } else { one.clone() }).collect()
}

fn with_site(notification: &Notification) -> Notification {
    let site = notification.site.as_str();
    let title = &notification.title;
    if site == NO_PLACE || is_named(&title.en, site) {
        return notification.clone();
    }
    let title = Text::new(placed(&title.ko, site), placed(&title.en, site));
    Notification { title, ..notification.clone() }
}

/// Whether a title names the site already, as a word of its own.
fn is_named(title: &str, site: &str) -> bool {
    title.split([' ', ':', ',', '/']).any(|word| word == site)
}

/// The title with the site behind the level in brackets, where it has one.
fn placed(title: &str, site: &str) -> String {
    match title.split_once("] ") {
        Some((level, rest)) if level.starts_with('[') => format!("{level}] {site} {rest}"),
        Some(_) | None => format!("{site} {title}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(site: &str, title: &str) -> Notification {
        serde_json::from_value(serde_json::json!({
            "schema": "pdm.notification/1", "notification_id": uuid::Uuid::nil(),
            "reason": "raised", "site": site, "equipment_id": "P-101", "bearing_id": "DE",
            "risk_level": "Critical", "title": { "ko": title, "en": title },
            "body": { "ko": "", "en": "" }, "created_at": "2026-11-20T00:00:00Z",
        }))
        .expect("a notification")
    }

    /// Issue 33
    #[test]
    fn a_title_names_its_site_where_the_plant_has_more_than_one() {
        let title = |site: &str, title: &str, sites: usize| {
            sited(&[of(site, title)], sites)[0].title.en.clone()
        };
        let raised = "[Critical] P-101 DE: outer race";
        assert_eq!(title("ulsan-2", raised, 2), "[Critical] ulsan-2 P-101 DE: outer race");
        assert_eq!(title("ulsan-2", raised, 1), raised);
        assert_eq!(title("ulsan-2", "P-101 back", 2), "ulsan-2 P-101 back");
        assert_eq!(title("pdm", "[Agent] blind", 2), "[Agent] blind");
        let summary = "[Critical] 2 held back: north P-1 DE, south P-1 DE";
        assert_eq!(title("north", summary, 2), summary);
    }
}
