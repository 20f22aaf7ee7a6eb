//! The name of a bearing or gateway on the command line.

use pdm_shared::id::BearingKey;

/// Reads `site/equipment/bearing`.
pub(super) fn bearing(text: &str) -> Result<BearingKey, String> {
    let parts: Vec<&str> = text.split('/').collect();
    match parts[..] {
        [site, equipment, bearing] => {
            BearingKey::parse(site, equipment, bearing).map_err(|error| error.to_string())
        }
        _ => Err("expected SITE/EQUIPMENT/BEARING, or SITE/gateway/GATEWAY".to_owned()),
    }
}
