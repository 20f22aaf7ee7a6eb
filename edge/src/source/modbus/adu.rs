//! Requests and answers of Modbus over TCP: two functions that read registers.
//!
//! An answer comes from a stranger: its header, its function, its unit and its length are held
//! against the request before a register is taken out of it.

/// Bytes of the header: transaction, protocol, length, unit.
pub const HEADER_BYTES: usize = 7;

/// Longest body of an answer after the unit, bytes (Modbus application protocol 1.1b3, 4.1).
const MAX_BODY_BYTES: usize = 253;

/// Which registers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterKind {
    /// Holding registers, function 3.
    Holding,
    /// Input registers, function 4.
    Input,
}

/// A request for registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterRequest {
    /// Its number.
    pub transaction: u16,
    /// Number of the device.
    pub unit: u8,
    /// Which registers.
    pub kind: RegisterKind,
    /// The first one, from 0.
    pub address: u16,
    /// The number of registers.
    pub count: u16,
}

/// The header of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerHeader {
    /// The number of the request that it answers.
    pub transaction: u16,
    unit: u8,
    /// Bytes that follow.
    pub body_bytes: usize,
}

/// Why an answer gives no registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerFault {
    /// The device refuses the request, with the number of the reason.
    Exception(u8),
    /// The bytes are no answer to the request, so that the connection cannot be relied on.
    Foreign(String),
}

impl RegisterRequest {
    /// Returns its bytes.
    pub fn bytes(self) -> [u8; 12] {
        let [transaction_high, transaction_low] = self.transaction.to_be_bytes();
        let [address_high, address_low] = self.address.to_be_bytes();
        let [count_high, count_low] = self.count.to_be_bytes();
        [
            transaction_high,
            transaction_low,
            0,
            0,
            0,
            6,
            self.unit,
            self.function(),
            address_high,
            address_low,
            count_high,
            count_low,
        ]
    }

    const fn function(self) -> u8 {
        match self.kind {
            RegisterKind::Holding => 3,
            RegisterKind::Input => 4,
        }
    }

    /// The bytes of the registers in an answer, two each, high byte first.
    ///
    /// # Errors
    /// [`AnswerFault`] if the answer refuses the request or does not belong to it.
    pub fn registers(self, header: AnswerHeader, body: &[u8]) -> Result<&[u8], AnswerFault> {
        let foreign = |why: String| Err(AnswerFault::Foreign(why));
        if header.unit != self.unit {
            return foreign(format!("unit {} answers, unit {} is asked", header.unit, self.unit));
        }
        match body {
            [function, code] if *function == self.function() | 0x80 => {
                Err(AnswerFault::Exception(*code))
            }
            [function, ..] if *function != self.function() => {
                foreign(format!("function {function} answers, {} is asked", self.function()))
            }
            [_, count, registers @ ..]
                if usize::from(*count) == registers.len()
                    && registers.len() == 2 * usize::from(self.count) =>
            {
                Ok(registers)
            }
            _ => {
                foreign(format!("{} bytes answer, {} registers are asked", body.len(), self.count))
            }
        }
    }
}

impl AnswerHeader {
    /// Reads a header.
    ///
    /// # Errors
    /// [`AnswerFault::Foreign`] if the bytes are no header.
    pub fn parse(bytes: [u8; HEADER_BYTES]) -> Result<Self, AnswerFault> {
        let [transaction_high, transaction_low, protocol_high, protocol_low, high, low, unit] =
            bytes;
        let length = usize::from(u16::from_be_bytes([high, low]));
        if [protocol_high, protocol_low] != [0, 0] || !(2..=MAX_BODY_BYTES + 1).contains(&length) {
            return Err(AnswerFault::Foreign("the answer is no Modbus over TCP".to_owned()));
        }
        Ok(Self {
            transaction: u16::from_be_bytes([transaction_high, transaction_low]),
            unit,
            body_bytes: length - 1,
        })
    }
}

/// The meaning of an exception, and what to do about it.
pub(super) const fn exception_words(code: u8) -> &'static str {
    match code {
        1 => "illegal function: the device does not have this kind of register",
        2 => {
            "illegal data address: addresses count from 0, where many manuals count from 1 and put \
             a 3 or 4 before (40101 is holding = 100)"
        }
        3 => "illegal data value",
        4 => "device failure",
        5 | 6 => "device busy",
        10 => "gateway path unavailable",
        11 => "the device behind the gateway does not answer: is unit right?",
        _ => "no exception of the specification",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REQUEST: RegisterRequest = RegisterRequest {
        transaction: 258,
        unit: 7,
        kind: RegisterKind::Input,
        address: 100,
        count: 2,
    };

    #[test]
    fn a_request_has_the_bytes_of_the_specification() {
        assert_eq!(REQUEST.bytes(), [1, 2, 0, 0, 0, 6, 7, 4, 0, 100, 0, 2]);
    }

    #[test]
    fn an_answer_is_held_against_its_request() {
        let header = |bytes| AnswerHeader::parse(bytes).expect("a header");
        let good = header([1, 2, 0, 0, 0, 7, 7]);
        assert_eq!(REQUEST.registers(good, &[4, 4, 1, 2, 3, 4]), Ok(&[1, 2, 3, 4][..]));
        let exception = header([1, 2, 0, 0, 0, 3, 7]);
        assert_eq!(REQUEST.registers(exception, &[0x84, 2]), Err(AnswerFault::Exception(2)));
        for (answer, body, expected) in [
            (header([1, 2, 0, 0, 0, 7, 8]), &[4, 4, 1, 2, 3, 4][..], "unit 8 answers"),
            (good, &[3, 4, 1, 2, 3, 4][..], "function 3 answers"),
            (good, &[4, 2, 1, 2][..], "4 bytes answer"),
            (good, &[4, 4, 1, 2][..], "4 bytes answer"),
            (good, &[][..], "0 bytes answer"),
        ] {
            let Err(AnswerFault::Foreign(why)) = REQUEST.registers(answer, body) else {
                panic!("{expected}");
            };
            assert!(why.contains(expected), "{why}");
        }
        for bytes in [[1, 2, 0, 1, 0, 7, 7], [1, 2, 0, 0, 0, 1, 7], [1, 2, 0, 0, 255, 7, 7]] {
            assert!(AnswerHeader::parse(bytes).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(
            header in any::<[u8; HEADER_BYTES]>(),
            body in prop::collection::vec(any::<u8>(), 0..260),
        ) {
            if let Ok(header) = AnswerHeader::parse(header) {
                let _registers = REQUEST.registers(header, &body);
            }
        }
    }
}
