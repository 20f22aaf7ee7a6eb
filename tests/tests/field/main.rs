//! What happens in the field to brokers, databases, mail servers, gateways and machines: each situation is
//! played against the real programs, and each test is named by the claim that holds in it. R-AGENT-10.
