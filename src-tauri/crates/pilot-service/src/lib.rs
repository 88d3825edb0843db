//! Composes the rooms below it.
