//! Models: servers that speak OpenAI's or Anthropic's format, the built-in helper that needs none, and scripts for tests.
//!
//! **What this crate must not know:** files, the database, policy, which tools exist, where a key is kept. It is the only
//! crate that speaks HTTP as a client. A key is given to it as a secret and goes to the one host of its provider: no
//! redirect is followed, and neither key nor custom headers appear in an error or a log line.

mod anthropic;
mod fenced_call;
pub mod http;
pub mod local;
pub mod offline;
mod openai;
pub mod preset;
mod scripted;
mod tokens;

pub use http::{HttpConfig, HttpProvider, WireFormat};
pub use offline::OfflineProvider;
pub use scripted::{ScriptedProvider, parse_script};
