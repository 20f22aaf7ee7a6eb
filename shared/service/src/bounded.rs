//! The head of an answer whose length its sender decides: a web hook's error page, an embedding
//! endpoint's answer.
//!
//! A server that never ends its answer must not fill the memory of this program, so the caller
//! hands over one chunk after the other and stops when the head is full. The caller's own time-out
//! ends an answer that comes too slowly.

/// Most bytes of an error page that are read. Chosen: far more than the 200 characters that are
/// told of it, and so little that a hundred of them at once do not matter.
pub const ERROR_BYTES: usize = 64 * 1024;

/// The first bytes of an answer.
#[derive(Debug, Clone, Default)]
pub struct Head {
    bytes: Vec<u8>,
    most: usize,
    is_cut: bool,
}

impl Head {
    /// A head of at most `most` bytes.
    pub const fn of(most: usize) -> Self {
        Self { bytes: Vec::new(), most, is_cut: false }
    }

    /// Takes a chunk; false once the answer is longer than the head, and the caller reads no
    /// further.
    #[must_use]
    pub fn take(&mut self, chunk: &[u8]) -> bool {
        let room = self.most - self.bytes.len();
        self.is_cut |= chunk.len() > room;
        self.bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        !self.is_cut
    }

    /// The whole answer; `None` if it is longer than the head.
    pub fn whole(self) -> Option<Vec<u8>> {
        (!self.is_cut).then_some(self.bytes)
    }

    /// The first `characters` of the answer as text.
    pub fn told(&self, characters: usize) -> String {
        String::from_utf8_lossy(&self.bytes).chars().take(characters).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_answer_is_read_up_to_the_bound_only() {
        let mut head = Head::of(10);
        let mut chunks = 0;
        while head.take(b"abcd") {
            chunks += 1;
        }
        assert_eq!(
            (chunks, head.told(100).as_str(), head.told(3).as_str()),
            (2, "abcdabcdab", "abc")
        );
        assert_eq!(head.whole(), None);
    }

    #[test]
    fn an_answer_of_exactly_the_bound_is_whole() {
        let mut head = Head::of(4);
        assert!(head.take(b"ab") && head.take(b"cd"));
        assert_eq!(head.whole().as_deref(), Some(b"abcd".as_slice()));
    }
}
