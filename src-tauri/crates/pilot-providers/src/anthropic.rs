//! Anthropic's messages, as Anthropic and the servers speak them that copy it.
//!
//! Blocks of thinking are neither kept nor sent back. A model with adaptive thinking takes a conversation without any of
//! them; a part of them would be refused, and a task that goes on in another process could only have a part.

mod answer;
mod event;
pub(crate) mod request;

pub(crate) use answer::Assembly;
