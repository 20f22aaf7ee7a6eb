//! The expert's rules as pure functions: screening, P–F stage, degradation, remaining life, risk.
