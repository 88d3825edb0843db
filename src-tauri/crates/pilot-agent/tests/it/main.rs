//! Whole runs of the loop with ports that are nothing but their traits.

mod approvals;
mod bounds;
mod calls;
mod record;
mod stage;
mod stops;
mod transcript;
