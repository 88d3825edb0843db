//! Whole cards, from bytes to what is drawn.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where something is not as it was built")]

mod cards;
mod spoofing;
