//! State, sequence number and event in one SQLite transaction; rows leave by receipt.
