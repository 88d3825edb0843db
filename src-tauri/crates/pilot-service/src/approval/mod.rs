//! The state machine of an approval: shown, decided once, executed at most once.

mod decide;
mod edit;
mod execute;
mod memory_watch;
mod replace;
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
    /// Revision and nonce of the view that was shown; `None` where the process shows and decides in one (the CLI).
    pub shown: Option<(u32, String)>,
    /// Arguments as edited; `None` for the card as it stands.
    pub arguments: Option<serde_json::Value>,
    /// Who.
    pub by: Decider,
}

impl From<ApproveRequest> for Approve {
    fn from(request: ApproveRequest) -> Self {
        Self {
            id: ApprovalId::from_text(request.id),
            shown: Some((request.rev, request.nonce)),
            arguments: request.arguments,
            by: Decider::Window,
        }
    }
}
