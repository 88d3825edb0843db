//! The `pilot` command as a person or a script uses it: real processes on real folders.

mod contract;
mod crash;
mod demo;
mod hostile;
mod support;
