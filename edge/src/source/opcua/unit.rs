//! The unit that a server states for a node (`EngineeringUnits`, OPC UA part 8).

use opcua::types::EUInformation;

use crate::source::interpretation::StatedUnit;

/// Codes of UNECE recommendation 20 that vibration, temperature and speed have. A server states one
/// as a number: the bytes of the code.
const CODES: [(&[u8], &str); 17] = [
    (b"K40", "g"),
    (b"MSK", "m/s2"),
    (b"M39", "cm/s2"),
    (b"M41", "mm/s2"),
    (b"A76", "gal"),
    (b"2Z", "mV"),
    (b"VLT", "V"),
    (b"C16", "mm/s"),
    (b"MTS", "m/s"),
    (b"2M", "cm/s"),
    (b"IU", "in/s"),
    (b"CEL", "degC"),
    (b"FAH", "degF"),
    (b"KEL", "K"),
    (b"RPM", "rpm"),
    (b"HTZ", "Hz"),
    (b"C62", "1"),
];

/// The spelling of a stated unit; `None` if the server leaves it empty. The name for people counts
/// where it is known, since some servers write numbers of their own into the code.
pub(super) fn spelling(stated: &EUInformation) -> Option<String> {
    let name = stated.display_name.text.value().as_deref().unwrap_or("").trim();
    let by_code = CODES.iter().find(|(code, _)| number(code) == stated.unit_id);
    match by_code {
        Some((_, unit)) if StatedUnit::parse(name).is_none() => Some((*unit).to_owned()),
        _ => (!name.is_empty()).then(|| name.to_owned()),
    }
}

fn number(code: &[u8]) -> i32 {
    code.iter().fold(0, |number, byte| number << 8 | i32::from(*byte))
}

#[cfg(test)]
mod tests {
    use opcua::types::{LocalizedText, UAString};

    use super::*;

    /// Numbers as OPC UA's table prints them: 5067595 for m/s², 4408652 for °C.
    #[test]
    fn a_unit_is_known_by_its_name_or_its_code() {
        let stated = |name: &str, unit_id| EUInformation {
            namespace_uri: UAString::null(),
            unit_id,
            display_name: LocalizedText::new("", name),
            description: LocalizedText::new("", ""),
        };
        for (name, code, expected) in [
            ("m/s²", 5_067_595, Some("m/s²")),
            ("", 5_067_595, Some("m/s2")),
            ("Grad Celsius", 4_408_652, Some("degC")),
            ("g", -1, Some("g")),
            ("bananas", -1, Some("bananas")),
            ("", 0, None),
        ] {
            assert_eq!(spelling(&stated(name, code)).as_deref(), expected, "{name:?} {code}");
        }
    }
}
