//! The connection to a device: one request at a time, each with its answer or a reason.
//!
//! After an answer that does not fit, or without an answer in time, the connection is given up: an
//! answer that comes later can then not be taken for that of another request.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use super::RegisterKind;
use super::adu::{AnswerFault, AnswerHeader, HEADER_BYTES, RegisterRequest, exception_words};

/// A device that is connected.
#[derive(Debug)]
pub(super) struct Device {
    stream: TcpStream,
    unit: u8,
    timeout: Duration,
    checks_transaction: bool,
    transaction: u16,
}

/// Why a register is not read.
#[derive(Debug)]
pub(super) enum ReadFault {
    /// The device refuses it; the connection stands.
    Refused(String),
    /// The connection cannot be used any more.
    Lost { cause: &'static str, error: io::Error },
}

impl Device {
    pub(super) fn connect(
        address: &str,
        (unit, timeout, checks_transaction): (u8, Duration, bool),
    ) -> Result<Self, io::Error> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "no address of this name");
        for place in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&place, timeout) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_write_timeout(Some(timeout))?;
                    return Ok(Self { stream, unit, timeout, checks_transaction, transaction: 0 });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Reads registers; two bytes each, high byte first.
    pub(super) fn read_registers(
        &mut self,
        kind: RegisterKind,
        address: u16,
        count: u16,
    ) -> Result<Vec<u8>, ReadFault> {
        self.transaction = self.transaction.wrapping_add(1);
        let (transaction, unit) = (self.transaction, self.unit);
        let request = RegisterRequest { transaction, unit, kind, address, count };
        let lost = |error: io::Error| {
            let is_late =
                matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock);
            ReadFault::Lost { cause: if is_late { "timeout" } else { "connection" }, error }
        };
        let foreign = |why: String| {
            let error = io::Error::new(io::ErrorKind::InvalidData, why);
            ReadFault::Lost { cause: "foreign", error }
        };
        let until = Instant::now() + self.timeout;
        self.stream.write_all(&request.bytes()).map_err(lost)?;
        let mut header = [0; HEADER_BYTES];
        self.fill(&mut header, until).map_err(lost)?;
        let header = AnswerHeader::parse(header).map_err(|_fault| {
            foreign("the answer is no Modbus over TCP (Modbus RTU behind a plain gateway?)".into())
        })?;
        let mut body = vec![0; header.body_bytes];
        self.fill(&mut body, until).map_err(lost)?;
        if self.checks_transaction && header.transaction != transaction {
            return Err(foreign(format!(
                "transaction {} answers, {transaction} is asked; modbus.any_transaction = true is \
                 for a device that never returns it",
                header.transaction
            )));
        }
        match request.registers(header, &body) {
            Ok(registers) => Ok(registers.to_vec()),
            Err(AnswerFault::Exception(code)) => {
                Err(ReadFault::Refused(format!("exception {code}, {}", exception_words(code))))
            }
            Err(AnswerFault::Foreign(why)) => Err(foreign(why)),
        }
    }

    /// Fills a buffer until an instant.
    fn fill(&mut self, mut buffer: &mut [u8], until: Instant) -> Result<(), io::Error> {
        while !buffer.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer in time"));
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(buffer) {
                Ok(0) => {
                    let kind = io::ErrorKind::UnexpectedEof;
                    return Err(io::Error::new(kind, "the device has closed the connection"));
                }
                Ok(count) => buffer = &mut buffer[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer in time"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
