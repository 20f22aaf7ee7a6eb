//! Spool to broker: connection, birth and last will, what has no PUBACK, receipts.
