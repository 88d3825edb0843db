//! The only ways in which a call may reach a tool.

use pilot_types::{CallId, Digest, OperationId, PreparedEffect, TaskId, ToolCall, Verdict};

/// A person's yes to one call. It cannot be cloned, and running the call consumes it. Made by the service after the
/// conditional update that decided the approval, never by a tool, a provider or the loop.
#[derive(Debug)]
pub struct ApprovalGrant {
    task: TaskId,
    call: CallId,
    digest: Digest,
    operation: OperationId,
}

impl ApprovalGrant {
    /// Records that a person approved the call with this digest. Call it only in the transaction's aftermath.
    #[must_use]
    pub fn after_decision(task: TaskId, call: CallId, digest: Digest, operation: OperationId) -> Self {
        Self { task, call, digest, operation }
    }
}

/// A call that may run now, once.
#[derive(Debug)]
pub struct AuthorizedCall {
    call: ToolCall,
    effect: Option<PreparedEffect>,
    operation: Option<OperationId>,
}

impl AuthorizedCall {
    /// A call that policy allows. `None` for any other verdict.
    #[must_use]
    pub fn allowed(call: ToolCall, verdict: &Verdict) -> Option<Self> {
        match verdict {
            Verdict::Allow { .. } => Some(Self { call, effect: None, operation: None }),
            Verdict::RequireApproval { .. } | Verdict::Deny { .. } => None,
        }
    }

    /// A call that a person approved. `None` when the grant is for another task, another call or other arguments.
    #[must_use]
    pub fn granted(
        task: &TaskId,
        call: ToolCall,
        effect: PreparedEffect,
        grant: ApprovalGrant,
    ) -> Option<Self> {
        let ApprovalGrant { task: granted_task, call: granted_call, digest, operation } = grant;
        (granted_task == *task && granted_call == call.id && digest == call.digest()).then_some(Self {
            call,
            effect: Some(effect),
            operation: Some(operation),
        })
    }

    /// The call.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// What was shown to the person; `None` for a call that needed nobody.
    #[must_use]
    pub fn effect(&self) -> Option<&PreparedEffect> {
        self.effect.as_ref()
    }

    /// The one execution this is; `None` for a call that needed nobody.
    #[must_use]
    pub fn operation(&self) -> Option<&OperationId> {
        self.operation.as_ref()
    }
}
