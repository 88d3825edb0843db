//! Models: OpenAI-compatible servers, the built-in helper that needs none, and scripts for tests.
//!
//! **What this crate must not know:** files, the database, policy, which tools exist, where a key is kept. It is the only
//! crate that speaks HTTP as a client. A key is given to it as a secret and goes to the one host of its provider: no
//! redirect is followed, and neither key nor custom headers appear in an error or a log line.

mod fenced_call;
pub mod offline;
pub mod openai;
mod scripted;
mod tokens;

pub use offline::OfflineProvider;
pub use openai::{OpenAiConfig, OpenAiProvider};
pub use scripted::{ScriptedProvider, parse_script};
