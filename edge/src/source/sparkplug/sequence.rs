//! The count that a node gives its messages: 0 to 255, then 0 again, from 0 at its birth.

/// The order of a message by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// It follows the one before, or the node does not count.
    Following,
    /// This many messages are missing before it.
    Missing(u64),
    /// Messages are missing, and the count has passed 0: the birth may be among them.
    MaybeReborn(u64),
    /// The same message came a second time.
    Twice,
}

/// The count of a node.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    next: Option<u8>,
    /// Time stamp of the last message.
    last_ms: Option<u64>,
    /// The node leaves the number out, and the log says so.
    is_uncounted: bool,
}

impl Sequence {
    /// The count begins at a birth.
    pub(super) fn begin(&mut self, seq: Option<u64>, sent_ms: Option<u64>) {
        self.next = seq.map(|seq| (seq as u8).wrapping_add(1));
        self.last_ms = sent_ms;
    }

    /// Forgets the count: nothing is known any more.
    pub(super) fn end(&mut self) {
        *self = Self { is_uncounted: self.is_uncounted, ..Self::default() };
    }

    /// Takes the number of a message.
    pub(super) fn take(&mut self, seq: Option<u64>, sent_ms: Option<u64>) -> Order {
        let (Some(seq), Some(next)) = (seq, self.next) else { return Order::Following };
        let number = seq as u8;
        let missing = number.wrapping_sub(next);
        if missing == u8::MAX && sent_ms.is_some() && sent_ms == self.last_ms {
            return Order::Twice;
        }
        self.next = Some(number.wrapping_add(1));
        self.last_ms = sent_ms;
        match missing {
            0 => Order::Following,
            missing if number < next => Order::MaybeReborn(u64::from(missing)),
            missing => Order::Missing(u64::from(missing)),
        }
    }

    /// Whether a message without a number is the first one of its kind.
    pub(super) fn is_first_without(&mut self, seq: Option<u64>) -> bool {
        seq.is_none() && !std::mem::replace(&mut self.is_uncounted, true)
    }
}
