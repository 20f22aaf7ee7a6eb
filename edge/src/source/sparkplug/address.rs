//! The node and device that a source follows, and the topics of Sparkplug B that belong to them.

/// The namespaces of Sparkplug B.
const NAMESPACE: &str = "spBv1.0";

/// The kinds of messages that stand in the third level of a topic.
const KINDS: [&str; 8] = ["NBIRTH", "NDATA", "NDEATH", "NCMD", "DBIRTH", "DDATA", "DDEATH", "DCMD"];

/// A node of the edge of a network, and one of its devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparkplugAddress {
    group: String,
    node: String,
    /// `None`: the metrics are the node's own.
    device: Option<String>,
}

/// The subject of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageKind {
    /// The node was born.
    NodeBirth,
    /// The node has gone.
    NodeDeath,
    /// The followed device was born; if no device is followed, that is the node's birth.
    DeviceBirth,
    /// The followed device has gone.
    DeviceDeath,
    /// Values of the followed device or node.
    Data,
    /// Another message of the node, which its sequence counts.
    Counted,
    /// A message that is not counted: a command.
    Uncounted,
}

impl SparkplugAddress {
    /// Reads `spBv1.0/GROUP/NODE/DEVICE`, without the device for metrics of the node; a topic with
    /// the kind of a message in it, as a broker's tool shows it, means the same.
    ///
    /// # Errors
    /// The allowed forms.
    pub fn parse(topic: &str) -> Result<Self, String> {
        let allowed = || "spBv1.0/GROUP/NODE or spBv1.0/GROUP/NODE/DEVICE".to_owned();
        let levels: Vec<&str> = topic.split('/').collect();
        let is_name = |level: &&str| !level.is_empty() && !level.contains(['+', '#']);
        let (group, rest) = match levels.as_slice() {
            [NAMESPACE, group, kind, rest @ ..]
                if !rest.is_empty() && (*kind == "+" || KINDS.contains(kind)) =>
            {
                (group, rest)
            }
            [NAMESPACE, group, rest @ ..] => (group, rest),
            _ => return Err(allowed()),
        };
        let (node, device) = match rest {
            [node] => (node, None),
            [node, device] => (node, Some(device)),
            _ => return Err(allowed()),
        };
        if ![group, node].into_iter().chain(device).all(is_name) {
            return Err(allowed());
        }
        Ok(Self {
            group: (*group).to_owned(),
            node: (*node).to_owned(),
            device: device.map(|name| (*name).to_owned()),
        })
    }

    /// The filter for all messages of the node: its sequence counts those of all its devices.
    pub fn filter(&self) -> String {
        format!("{NAMESPACE}/{}/+/{}/#", self.group, self.node)
    }

    /// The topic of commands to the node.
    pub(super) fn command_topic(&self) -> String {
        format!("{NAMESPACE}/{}/NCMD/{}", self.group, self.node)
    }

    /// Returns the subject of a message of the filter.
    pub(super) fn kind_of(&self, topic: &str) -> MessageKind {
        let mut levels = topic.split('/').skip(2);
        let kind = levels.next().unwrap_or_default();
        let device = levels.nth(1);
        let is_followed = device == self.device.as_deref();
        match kind {
            "NBIRTH" => MessageKind::NodeBirth,
            "NDEATH" => MessageKind::NodeDeath,
            "DBIRTH" if is_followed => MessageKind::DeviceBirth,
            "DDEATH" if is_followed => MessageKind::DeviceDeath,
            "NDATA" | "DDATA" if is_followed => MessageKind::Data,
            "NDATA" | "DDATA" | "DBIRTH" | "DDEATH" => MessageKind::Counted,
            _ => MessageKind::Uncounted,
        }
    }

    /// Whether the metrics are those of the node itself.
    pub(super) const fn is_node(&self) -> bool {
        self.device.is_none()
    }
}
