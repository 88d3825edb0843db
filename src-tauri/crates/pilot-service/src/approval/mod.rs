//! The state machine of an approval: shown, decided once, executed at most once.

mod decide;
mod edit;
mod execute;
mod memory_watch;
mod replace;
mod seen;
mod show;

use crate::view::ApproveRequest;
use pilot_types::ApprovalId;

pub(crate) use execute::PendingExecution;

/// Who decides, for the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decider {
    /// The window.
    Window,
    /// The command line.
    Cli,
    /// A decision written into a case of the evals.
    Eval,
}

impl Decider {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Decider::Window => "window",
            Decider::Cli => "cli",
            Decider::Eval => "eval",
        }
    }
}

/// A yes.
#[derive(Clone, Debug, PartialEq)]
pub struct Approve {
    /// Card.
    pub id: ApprovalId,
    /// The view that was shown; `None` where the process shows the whole card and decides in one (the CLI).
    pub shown: Option<Shown>,
    /// Arguments as edited; `None` for the card as it stands.
    pub arguments: Option<serde_json::Value>,
    /// Who.
    pub by: Decider,
}

/// What a window had on screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Revision of the view.
    pub rev: u32,
    /// Its nonce.
    pub nonce: String,
    /// Numbers of the changes that were on screen.
    pub seen: Vec<u32>,
}

impl From<ApproveRequest> for Approve {
    fn from(request: ApproveRequest) -> Self {
        Self {
            id: ApprovalId::from_text(request.id),
            shown: Some(Shown { rev: request.rev, nonce: request.nonce, seen: request.seen }),
            arguments: request.arguments,
            by: Decider::Window,
        }
    }
}
