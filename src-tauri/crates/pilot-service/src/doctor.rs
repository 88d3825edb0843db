//! What is missing on this machine, in plain words.

use crate::error::ServiceError;
use crate::open::Service;
use pilot_documents::AnalyzeOptions;
use pilot_tools::mcp::Confinement;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// In order.
    Ok,
    /// Works, with less.
    Limited,
    /// Does not work.
    Broken,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub id: &'static str,
    /// How it came out.
    pub state: CheckState,
    /// In plain words, with what to do.
    pub words: String,
}

impl Service {
    /// Looks at everything that the product needs.
    ///
    /// # Errors
    /// The database cannot be read at all.
    pub async fn doctor(&self) -> Result<Vec<Check>, ServiceError> {
        Ok(vec![
            self.check_record().await?,
            self.check_keyring().await,
            self.check_reader().await,
            self.check_guard(),
            self.check_workspaces().await?,
            self.check_confinement(),
            self.check_outside_servers().await?,
        ])
    }

    async fn check_record(&self) -> Result<Check, ServiceError> {
        let audit = self.verify_audit().await?;
        Ok(match audit.broken_at {
            None => Check {
                id: "record",
                state: CheckState::Ok,
                words: format!("the log chain is intact, {} entries", audit.entries),
            },
            Some(at) => Check {
                id: "record",
                state: CheckState::Broken,
                words: format!(
                    "entry {at} of the log does not fit the one before it: the database was changed from outside. Keep a copy and export the log"
                ),
            },
        })
    }

    async fn check_keyring(&self) -> Check {
        match self.inner.keys.probe().await {
            Ok(()) => Check { id: "keyring", state: CheckState::Ok, words: "the keyring works".to_owned() },
            Err(error) => Check {
                id: "keyring",
                state: CheckState::Limited,
                words: format!(
                    "{error}. Keys are kept for one run only; install and unlock gnome-keyring or KWallet to keep them"
                ),
            },
        }
    }

    /// Starts the real child process and asks it for the totals of nothing.
    async fn check_reader(&self) -> Check {
        let asked = match pilot_guard::WorkspaceGuard::open(self.data_dir()) {
            Ok(guard) => {
                let (options, cancel) = (AnalyzeOptions::default(), CancellationToken::new());
                self.inner
                    .extraction
                    .analyze(&guard, &[], &options, &cancel, &|_| {})
                    .await
                    .map(|_| ())
                    .map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        match asked {
            Ok(()) => Check {
                id: "documents",
                state: CheckState::Ok,
                words: "documents are read in a limited process".to_owned(),
            },
            Err(error) => Check {
                id: "documents",
                state: CheckState::Broken,
                words: format!("documents cannot be read: {error}"),
            },
        }
    }

    fn check_guard(&self) -> Check {
        if self.holds_by_kernel() {
            Check {
                id: "guard",
                state: CheckState::Ok,
                words: "folders are held by the kernel (openat2)".to_owned(),
            }
        } else {
            Check {
                id: "guard",
                state: CheckState::Limited,
                words: "this kernel has no openat2; folders are held by a walk of each component, which is slower".to_owned(),
            }
        }
    }

    fn check_confinement(&self) -> Check {
        let (state, words) = match self.inner.mcp.confinement {
            Confinement::Whole { abi } => {
                (CheckState::Ok, format!("outside tools are confined by the kernel (Landlock ABI {abi})"))
            }
            Confinement::FilesOnly { abi } => (
                CheckState::Limited,
                format!(
                    "Landlock ABI {abi} confines outside tools to files but not from the network (that needs ABI 4, kernel 6.7); each of their calls asks, unless declared as reading"
                ),
            ),
            Confinement::None => (
                CheckState::Limited,
                "this system has no Landlock: outside tools run with your own rights; each of their calls asks, unless declared as reading".to_owned(),
            ),
        };
        Check { id: "confinement", state, words }
    }

    async fn check_outside_servers(&self) -> Result<Check, ServiceError> {
        let problems = self.mcp_problems().await?;
        Ok(if problems.is_empty() {
            Check { id: "mcp", state: CheckState::Ok, words: "all outside servers can be read".to_owned() }
        } else {
            Check {
                id: "mcp",
                state: CheckState::Limited,
                words: format!("left out: {}", problems.join("; ")),
            }
        })
    }

    fn holds_by_kernel(&self) -> bool {
        pilot_guard::WorkspaceGuard::open(self.data_dir())
            .is_ok_and(|guard| guard.resolver() == pilot_guard::Resolver::OpenAt2)
    }

    async fn check_workspaces(&self) -> Result<Check, ServiceError> {
        let gone: Vec<String> =
            self.workspaces().await?.into_iter().filter(|view| !view.present).map(|view| view.name).collect();
        Ok(if gone.is_empty() {
            Check { id: "workspaces", state: CheckState::Ok, words: "all workspaces are there".to_owned() }
        } else {
            Check {
                id: "workspaces",
                state: CheckState::Limited,
                words: format!("not there now: {}", gone.join(", ")),
            }
        })
    }
}
