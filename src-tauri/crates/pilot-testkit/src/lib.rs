//! What tests of several rooms share: temporary workspaces, a clock that stands still, a model server on loopback that
//! can misbehave in every way that was seen, hostile paths, and the architecture test.
//!
//! **What this crate must not know:** any room but `pilot-types` and the ports of `pilot-agent`. It is a development
//! dependency only; nothing that ships may depend on it.

mod clock;
pub mod escapes;
mod model_server;
mod recording;
mod reply;
mod workspace;

pub use clock::FixedClock;
pub use model_server::{ModelServer, RecordedRequest};
pub use recording::{Recording, exchanges, recordings, shared_folder};
pub use reply::{Piece, Reply};
pub use workspace::TempWorkspace;
