//! The kinds of packets in a stream of MQTT, however the stream was cut into pieces.

/// One direction of one connection.
#[derive(Debug, Default)]
pub struct MqttPackets {
    rest: Vec<u8>,
}

impl MqttPackets {
    /// The kind of a PUBACK.
    pub const PUBACK: u8 = 4;

    /// Takes a piece of the stream and returns the kinds of the packets that end in it.
    pub fn kinds(&mut self, piece: &[u8]) -> Vec<u8> {
        self.rest.extend_from_slice(piece);
        let mut kinds = Vec::new();
        while let Some(length) = length(&self.rest).filter(|length| *length <= self.rest.len()) {
            kinds.push(self.rest[0] >> 4);
            self.rest.drain(..length);
        }
        kinds
    }
}

/// Length of the packet at the front with its header, bytes; `None` if the header is incomplete.
fn length(bytes: &[u8]) -> Option<usize> {
    let mut length = 0;
    for (place, byte) in bytes.iter().skip(1).take(4).enumerate() {
        length |= usize::from(byte & 127) << (7 * place);
        if byte & 128 == 0 {
            return Some(length + place + 2);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_told_apart_wherever_the_pieces_end() {
        let mut stream = vec![0x20, 3, 0, 0, 0];
        stream.extend([0x30, 0xc8, 0x01]);
        stream.extend([7; 200]);
        stream.extend([0x40, 2, 0, 1, 0x40, 2, 0, 2]);
        for size in [1, 2, 3, 7, 100, 1000] {
            let mut packets = MqttPackets::default();
            let kinds: Vec<u8> =
                stream.chunks(size).flat_map(|piece| packets.kinds(piece)).collect();
            assert_eq!(kinds, [2, 3, 4, 4], "pieces of {size}");
        }
    }
}
