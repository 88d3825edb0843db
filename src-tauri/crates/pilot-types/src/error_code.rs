//! The closed list of error codes. The window and the command line translate by code, never by text.

use serde::{Deserialize, Serialize};
use std::fmt;
use ts_rs::TS;

/// Who can do something about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// Told to the model as a failed result; the task goes on.
    Model,
    /// Cannot be done now; the person can change something.
    Precondition,
    /// A fault of the machine or of this program; logged, plain words shown.
    Fault,
}

macro_rules! codes {
    ($( $(#[$doc:meta])* $name:ident = $text:literal, $class:ident; )*) => {
        /// Every way in which something can be refused or fail.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
        pub enum ErrorCode {
            $( $(#[$doc])* #[serde(rename = $text)] $name, )*
        }

        impl ErrorCode {
            /// All codes, in the order of this file.
            pub const ALL: &'static [ErrorCode] = &[ $( ErrorCode::$name, )* ];

            /// The code as it stands in JSON.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $( ErrorCode::$name => $text, )* }
            }

            /// Who can do something about it.
            #[must_use]
            pub fn class(self) -> ErrorClass {
                match self { $( ErrorCode::$name => ErrorClass::$class, )* }
            }

            /// Reads a code back; `None` for a code that this version does not know.
            #[must_use]
            pub fn from_text(text: &str) -> Option<Self> {
                match text { $( $text => Some(ErrorCode::$name), )* _ => None }
            }
        }
    };
}

codes! {
    // Guard: the path itself.
    /// An absolute path, a drive, a share.
    PathAbsolute = "path_absolute", Model;
    /// A `..` component.
    PathParent = "path_parent", Model;
    /// Empty, NUL, control characters, or not text.
    PathInvalid = "path_invalid", Model;
    /// Too long or too deep.
    PathTooLong = "path_too_long", Model;
    /// A name that may not be written: reserved, invisible characters, mixed scripts, blanks or dots at an end.
    PathName = "path_name", Model;
    /// Not `.md`, `.csv` or `.xlsx`.
    PathExtension = "path_extension", Model;
    /// `memory/`, `skills/` or a dot name.
    PathProtected = "path_protected", Model;
    // Guard: what stands on disk.
    /// A link that leaves the workspace.
    PathEscape = "path_escape", Model;
    /// A link where none may be.
    PathSymlink = "path_symlink", Model;
    /// A file with a second name.
    PathHardlink = "path_hardlink", Model;
    /// A FIFO, device or socket.
    PathSpecial = "path_special", Model;
    /// Another file system mounted inside.
    PathMount = "path_mount", Model;
    /// Nothing there.
    NotFound = "not_found", Model;
    /// A folder where a file was asked for.
    NotAFile = "not_a_file", Model;
    /// A file where a folder was asked for.
    NotAFolder = "not_a_folder", Model;
    /// Larger than the limit.
    TooLarge = "too_large", Model;
    /// The system refused access.
    PermissionDenied = "permission_denied", Precondition;
    /// No space left.
    DiskFull = "disk_full", Precondition;
    /// The disk or folder is read-only.
    ReadOnly = "read_only", Precondition;
    /// The target is not what it was when the card was shown.
    TargetChanged = "target_changed", Precondition;
    /// Another error of the disk.
    IoFailed = "io_failed", Fault;
    // Workspace.
    /// No such workspace.
    WorkspaceNotFound = "workspace_not_found", Precondition;
    /// The folder cannot be a workspace: `/`, a drive, the home folder.
    WorkspaceTooWide = "workspace_too_wide", Precondition;
    /// The folder holds, or lies in, the application's own data.
    WorkspaceHoldsData = "workspace_holds_data", Precondition;
    /// Not an existing folder.
    WorkspaceNotFolder = "workspace_not_folder", Precondition;
    /// The folder is not there now.
    WorkspaceGone = "workspace_gone", Precondition;
    /// Another folder stands where the workspace was.
    WorkspaceReplaced = "workspace_replaced", Precondition;
    // Policy and loop.
    /// Policy does not allow this capability.
    PolicyDenied = "policy_denied", Model;
    /// No such tool.
    UnknownTool = "unknown_tool", Model;
    /// The arguments do not fit the tool's schema.
    InvalidArguments = "invalid_arguments", Model;
    /// The tool failed.
    ToolFailed = "tool_failed", Model;
    /// The tool took too long.
    ToolTimeout = "tool_timeout", Model;
    /// An outside program could not be started.
    McpNotStarted = "mcp_not_started", Model;
    /// An outside program did not shake hands.
    McpHandshake = "mcp_handshake", Model;
    /// What an outside program said is no answer, or it went away.
    McpBadAnswer = "mcp_bad_answer", Model;
    /// The settings demand a confinement that this computer cannot give.
    McpUnconfined = "mcp_unconfined", Precondition;
    /// The outside tool is not what it was when the card was shown.
    McpServerChanged = "mcp_server_changed", Precondition;
    /// No outside server of that name is declared.
    McpServerNotFound = "mcp_server_not_found", Precondition;
    /// A declaration of an outside server that cannot be used.
    McpDeclaration = "mcp_declaration", Precondition;
    /// The call was cut off in the model's answer; it was not run.
    TruncatedCall = "truncated_call", Model;
    /// The task used up its steps.
    StepLimit = "step_limit", Precondition;
    /// The task used up its time.
    TimeLimit = "time_limit", Precondition;
    /// The task or the day used up its tokens.
    TokenLimit = "token_limit", Precondition;
    /// The same call for the third time, with the same result.
    RepeatedCall = "repeated_call", Precondition;
    /// The person stopped the task.
    Cancelled = "cancelled", Precondition;
    // Providers.
    /// The provider of this task is not configured here.
    ProviderMissing = "provider_missing", Precondition;
    /// The provider needs a key.
    ProviderKeyMissing = "provider_key_missing", Precondition;
    /// 401: the key was refused.
    ProviderUnauthorized = "provider_unauthorized", Precondition;
    /// 403: not allowed.
    ProviderForbidden = "provider_forbidden", Precondition;
    /// 404: nothing at this address.
    ProviderNotFound = "provider_not_found", Precondition;
    /// The server has no model of this name.
    ProviderModelMissing = "provider_model_missing", Precondition;
    /// The model cannot call tools.
    ProviderNoTools = "provider_no_tools", Precondition;
    /// The server is still loading its model.
    ProviderLoading = "provider_loading", Precondition;
    /// 429: too many requests, also after waiting.
    ProviderRateLimited = "provider_rate_limited", Precondition;
    /// 5xx, connection refused, name not found.
    ProviderUnavailable = "provider_unavailable", Precondition;
    /// No answer in time.
    ProviderTimeout = "provider_timeout", Precondition;
    /// The answer broke off.
    ProviderStreamBroken = "provider_stream_broken", Precondition;
    /// The answer could not be understood or was beyond the limits.
    ProviderBadResponse = "provider_bad_response", Precondition;
    /// The provider refused the request (4xx).
    ProviderRejected = "provider_rejected", Precondition;
    /// The provider sent the request elsewhere; the key did not follow.
    ProviderRedirect = "provider_redirect", Precondition;
    /// Content would leave this computer and the person was not asked yet.
    ConsentRequired = "consent_required", Precondition;
    /// The script has no further step.
    ScriptExhausted = "script_exhausted", Precondition;
    /// The last result is not what the script expected.
    ScriptMismatch = "script_mismatch", Precondition;
    /// The script cannot be read.
    ScriptInvalid = "script_invalid", Precondition;
    // Documents.
    /// Not a kind that can be read.
    DocumentUnsupported = "document_unsupported", Model;
    /// Damaged.
    DocumentBroken = "document_broken", Model;
    /// Needs a password.
    DocumentEncrypted = "document_encrypted", Model;
    /// Only pictures of pages.
    DocumentScanned = "document_scanned", Model;
    /// A text layer that is not readable text.
    DocumentGarbled = "document_garbled", Model;
    /// Beyond the limits of size, pages, cells or depth.
    DocumentLimit = "document_limit", Model;
    /// Took too long.
    DocumentTimeout = "document_timeout", Model;
    /// The reader stopped; the document is the likely cause.
    DocumentCrashed = "document_crashed", Model;
    // Tasks, approvals, artifacts.
    /// No such task.
    TaskNotFound = "task_not_found", Precondition;
    /// The task is not in a state in which this can be done.
    TaskState = "task_state", Precondition;
    /// No such conversation.
    SessionNotFound = "session_not_found", Precondition;
    /// No such approval.
    ApprovalNotFound = "approval_not_found", Precondition;
    /// Already decided.
    ApprovalDecided = "approval_decided", Precondition;
    /// The target changed; a new card stands in its place.
    ApprovalStale = "approval_stale", Precondition;
    /// The card was changed since it was shown.
    ApprovalRevised = "approval_revised", Precondition;
    /// Parts of the card that must be seen were not on screen.
    ApprovalUnseen = "approval_unseen", Precondition;
    /// The person said no.
    ApprovalRejected = "approval_rejected", Model;
    /// Whether it happened cannot be known; it is not run again.
    OutcomeUnknown = "outcome_unknown", Precondition;
    /// No such artifact.
    ArtifactNotFound = "artifact_not_found", Precondition;
    /// The file changed since; undo would destroy that.
    UndoChanged = "undo_changed", Precondition;
    /// Nothing kept to go back to, or already undone.
    UndoMissing = "undo_missing", Precondition;
    /// No such skill.
    SkillNotFound = "skill_not_found", Model;
    /// A `SKILL.md` without a header between two lines of `---`.
    SkillNoHeader = "skill_no_header", Precondition;
    /// The header of a `SKILL.md` has no name or description, or one that cannot be used.
    SkillHeaderBroken = "skill_header_broken", Precondition;
    /// Another skill of the same folder has this name.
    SkillDuplicate = "skill_duplicate", Precondition;
    /// The file changed since the person opened it; what they wrote is not lost.
    EditConflict = "edit_conflict", Precondition;
    /// No such edit of the person, upload or version.
    EditNotFound = "edit_not_found", Precondition;
    /// A file of that name is there already.
    AlreadyExists = "already_exists", Precondition;
    // Schedules and webhook.
    /// A rule that has not five fields and is no known nickname.
    ScheduleFields = "schedule_fields", Precondition;
    /// A field of a rule that cannot be.
    ScheduleValue = "schedule_value", Precondition;
    /// A rule whose day never comes, such as 31 February.
    ScheduleNever = "schedule_never", Precondition;
    /// No such time zone.
    ScheduleZone = "schedule_zone", Precondition;
    /// No such schedule.
    ScheduleNotFound = "schedule_not_found", Precondition;
    /// The slot passed while the previous run was not finished.
    SlotSkipped = "slot_skipped", Precondition;
    /// The slot passed while nobody looked; it is not caught up.
    SlotMissed = "slot_missed", Precondition;
    /// As many tasks of this schedule or channel wait as may.
    QueueFull = "queue_full", Precondition;
    /// No such channel.
    ChannelNotFound = "channel_not_found", Precondition;
    /// The token is missing, wrong, or was revoked.
    TokenRefused = "token_refused", Precondition;
    /// A request that does not come straight from a program on this computer.
    CallerRefused = "caller_refused", Precondition;
    /// A request to the webhook that cannot be understood.
    RequestInvalid = "request_invalid", Precondition;
    /// The text of a webhook request is empty or too long.
    TextLength = "text_length", Precondition;
    /// Too many requests to this channel.
    RateLimited = "rate_limited", Precondition;
    /// Another program uses the port of the webhook.
    PortTaken = "port_taken", Precondition;
    /// The person paused all automations.
    AutomationsPaused = "automations_paused", Precondition;
    /// The webhook is off in this process.
    WebhookOff = "webhook_off", Precondition;
    // Data and settings.
    /// The database is in use for longer than 5 s.
    DatabaseLocked = "database_locked", Precondition;
    /// The database is damaged; it was kept aside.
    DatabaseCorrupt = "database_corrupt", Precondition;
    /// The database was made by a newer version.
    DatabaseNewer = "database_newer", Precondition;
    /// A file that is no whole backup of this program.
    BackupInvalid = "backup_invalid", Precondition;
    /// The log chain does not fit together.
    AuditBroken = "audit_broken", Precondition;
    /// No keyring on this computer.
    KeyringMissing = "keyring_missing", Precondition;
    /// The keyring is locked.
    KeyringLocked = "keyring_locked", Precondition;
    /// The keyring does not answer.
    KeyringTimeout = "keyring_timeout", Precondition;
    /// A setting that cannot be.
    SettingsInvalid = "settings_invalid", Precondition;
    /// A call that does not fit the contract.
    Usage = "usage", Precondition;
    /// A fault of this program.
    Internal = "internal", Fault;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_reads_back_and_equals_its_json() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_text(code.as_str()), Some(*code), "a stored code must read back");
            let json = serde_json::to_string(code).unwrap();
            assert_eq!(json, format!("\"{code}\""), "JSON and text form are one contract");
        }
    }
}
