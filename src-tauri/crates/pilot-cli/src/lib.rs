//! The pilot command
