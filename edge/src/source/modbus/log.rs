//! Log lines and metrics of a Modbus source: one function an occurrence, which logs *and* counts.

use metrics::counter;

/// A value is not read, or the connection is lost. Only the first of a row is logged.
pub(super) fn value_missing(source: &str, cause: &'static str, why: &str, is_told: bool) {
    counter!("pdm_edge_modbus_failures_total", "source" => source.to_owned(), "cause" => cause)
        .increment(1);
    if !is_told {
        tracing::error!(source, why, "values of the Modbus device are missing");
    }
}

/// All values are read again.
pub(super) fn values_back(source: &str) {
    tracing::info!(source, "all values of the Modbus device are read again");
}
