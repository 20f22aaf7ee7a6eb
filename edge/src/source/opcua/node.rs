//! Names of nodes as people write them: `nsu=URI;s=NAME`, `ns=2;i=1234` (OPC UA part 6, 5.3.1.10).
//!
//! Invariant: a name that is not of this form is refused with what is missing.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use uuid::Uuid;

/// The allowed forms of a name, for errors.
const ALLOWED: &str =
    "the name of a node such as \"nsu=URI;s=NAME\", \"ns=2;s=NAME\" or \"ns=2;i=1234\"";

/// The name of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeName {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name there.
    pub identifier: NodeIdentifier,
    text: String,
}

/// The namespace of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Namespace {
    /// The namespace by its index, which a server may change when it is restarted.
    Index(u16),
    /// The namespace by its URI.
    Uri(String),
}

/// The name of a node in its namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeIdentifier {
    /// `i=`
    Numeric(u32),
    /// `s=`
    Text(String),
    /// `g=`
    Guid(Uuid),
    /// `b=`, base64.
    Opaque(Vec<u8>),
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for NodeName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || ALLOWED.to_owned();
        if text.contains(|c: char| c.is_control()) || text.trim() != text {
            return Err(format!("{ALLOWED}, without spaces or line breaks at its ends"));
        }
        // the identifier may itself hold the sign between them
        let begins = ["i=", "s=", "g=", "b="].iter().filter_map(|kind| {
            if text.starts_with(kind) {
                return Some(0);
            }
            text.find(&format!(";{kind}")).map(|at| at + 1)
        });
        let begin = begins.min().ok_or_else(refused)?;
        let (namespace, identifier) = text.split_at(begin);
        let namespace = match namespace.strip_suffix(';') {
            None if namespace.is_empty() => Namespace::Index(0),
            Some(namespace) => match namespace.split_once('=') {
                Some(("ns", index)) => Namespace::Index(index.parse().map_err(|_| refused())?),
                Some(("nsu", uri)) if !uri.is_empty() => {
                    Namespace::Uri(uri.replace("%3B", ";").replace("%25", "%"))
                }
                _ => return Err(refused()),
            },
            None => return Err(refused()),
        };
        let (kind, value) = identifier.split_at(2);
        let identifier = match kind {
            "i=" => NodeIdentifier::Numeric(value.parse().map_err(|_| refused())?),
            "s=" if !value.is_empty() => NodeIdentifier::Text(value.to_owned()),
            "g=" => NodeIdentifier::Guid(value.parse().map_err(|_| refused())?),
            "b=" => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(value);
                NodeIdentifier::Opaque(bytes.map_err(|_| refused())?)
            }
            _ => return Err(refused()),
        };
        Ok(Self { namespace, identifier, text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_read_as_the_specification_writes_it() {
        let text = |name: &str| NodeIdentifier::Text(name.to_owned());
        let uri = |uri: &str| Namespace::Uri(uri.to_owned());
        for (name, namespace, identifier) in [
            ("ns=2;s=Pump.X", Namespace::Index(2), text("Pump.X")),
            ("i=2258", Namespace::Index(0), NodeIdentifier::Numeric(2258)),
            ("nsu=http://a.example/v;s=X", uri("http://a.example/v"), text("X")),
            ("nsu=urn:a%3Bb;i=5", uri("urn:a;b"), NodeIdentifier::Numeric(5)),
            // names of Siemens and of Kepware
            ("ns=3;s=\"Data\".\"X\"", Namespace::Index(3), text("\"Data\".\"X\"")),
            ("ns=2;s=A;i=3", Namespace::Index(2), text("A;i=3")),
            ("ns=1;b=AQI=", Namespace::Index(1), NodeIdentifier::Opaque(vec![1, 2])),
        ] {
            let read: NodeName = name.parse().expect(name);
            assert_eq!((&read.namespace, &read.identifier), (&namespace, &identifier), "{name}");
            assert_eq!(read.to_string(), name);
        }
        for wrong in [
            "",
            "Pump.X",
            "ns=x;s=a",
            "ns=2;s=",
            "ns=2;i=x",
            "ns=70000;i=1",
            "nsu=;s=a",
            "svr=1;s=a",
            "ns=2;s=a\n",
            " ns=2;s=a",
            "ns=2;g=1",
            "ns=2;b=*",
            "2;s=a",
        ] {
            assert!(wrong.parse::<NodeName>().is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}") {
            if let Ok(name) = text.parse::<NodeName>() {
                prop_assert_eq!(name.to_string(), text);
            }
        }
    }
}
