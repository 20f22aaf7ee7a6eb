//! The stages joined into a service: source to spool, and the task that publishes.
