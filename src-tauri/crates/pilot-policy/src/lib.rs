//! Capability suffix to verdict
