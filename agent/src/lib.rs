//! The agent: events in, judgement, memory and notification out. It interprets, it never computes.
