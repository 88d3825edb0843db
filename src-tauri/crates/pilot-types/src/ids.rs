//! Identifiers. All are opaque text at every edge, so that none is ever mistaken for another or for a number.

use serde::{Deserialize, Serialize};
use std::fmt;
use ts_rs::TS;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
        #[serde(transparent)]
        #[ts(type = "string")]
        pub struct $name(String);

        impl $name {
            /// A new id: a version 7 UUID, so that ids sort by the time they were made.
            #[must_use]
            pub fn new() -> Self {
                Self(uuid::Uuid::now_v7().to_string())
            }

            /// Takes an id that came from the database, the window or the command line.
            #[must_use]
            pub fn from_text(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A task: one goal given to one workspace.
    TaskId
);
id!(
    /// A workspace: a folder that the person chose.
    WorkspaceId
);
id!(
    /// An approval: one call that waits for a person.
    ApprovalId
);
id!(
    /// An artifact: a file that a task wrote.
    ArtifactId
);
id!(
    /// One execution of an approved call. The same operation is never run twice.
    OperationId
);
id!(
    /// A running process of this product on one data folder.
    ProcessId
);
id!(
    /// A conversation: tasks that follow one another.
    SessionId
);
id!(
    /// A schedule: a rule that starts tasks.
    ScheduleId
);
id!(
    /// A channel: a door of the local webhook with a token of its own.
    ChannelId
);
id!(
    /// A tool call inside one task, as the model named it.
    CallId
);
