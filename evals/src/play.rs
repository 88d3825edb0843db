//! Plays one case through the service, as a person would.

use crate::case::{Case, CaseDecision, CaseResult, Earlier};
use crate::folder::CaseFolder;
use crate::score::{Outcome, problems};
use pilot_service::{Approve, Decider, EnvironmentProvider, Keys, OpenOptions, Service, ServiceError};
use pilot_types::{
    ApprovalId, Channel, ErrorCode, ProviderChoice, TaskId, TaskIntake, TaskLimits, TaskStatus, WorkspaceId,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;

/// Cases at a time: most of one is waiting for the disk.
const AT_A_TIME: usize = 6;

/// Who plays the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Player {
    /// The case's script, or the built-in helper where there is none.
    Script,
    /// The model that the environment names; the script is ignored and so are results and last words.
    Environment,
}

/// How cases are played.
#[derive(Clone, Debug)]
pub struct Runner {
    /// Who plays the model.
    pub player: Player,
    /// Program that reads documents; `None` for the running one.
    pub worker: Option<PathBuf>,
}

impl Default for Runner {
    fn default() -> Self {
        Self { player: Player::Script, worker: None }
    }
}

/// Plays a case in a temporary folder and an in-memory database, and scores it.
pub async fn run_case(case: &Case, runner: &Runner) -> CaseResult {
    let began = Instant::now();
    let problems = match play(case, runner).await {
        Ok(problems) => problems,
        Err(error) => vec![error],
    };
    CaseResult {
        name: case.name.clone(),
        kind: case.kind,
        about: case.about.clone(),
        held: problems.is_empty(),
        problems,
        micros: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
    }
}

/// Plays cases, a few at a time, and gives the results in the order of the cases.
pub async fn run_cases(cases: Vec<Case>, runner: &Runner) -> Vec<CaseResult> {
    let places = Arc::new(Semaphore::new(AT_A_TIME));
    let running: Vec<_> = cases
        .into_iter()
        .map(|case| {
            let (places, runner) = (Arc::clone(&places), runner.clone());
            tokio::spawn(async move {
                let _place = places.acquire().await;
                run_case(&case, &runner).await
            })
        })
        .collect();
    let mut results = Vec::with_capacity(running.len());
    for case in running {
        // A case that panicked is no result; its absence shows in the count.
        results.extend(case.await);
    }
    results
}

async fn play(case: &Case, runner: &Runner) -> Result<Vec<String>, String> {
    let folder = CaseFolder::make(&case.files).map_err(|error| format!("the folder of the case: {error}"))?;
    let before = folder.measure().map_err(|error| format!("measuring before: {error}"))?;
    let session = Session::open(&folder.data(), &folder.workspace(), case, runner).await.map_err(words)?;
    let mut found = Vec::new();
    session.decide_all(&case.decisions, runner.player, &mut found).await.map_err(words)?;
    let outcome = session.outcome().await.map_err(words)?;
    session.service.close().await;
    let after = folder.measure().map_err(|error| format!("measuring after: {error}"))?;
    found.extend(problems(case, runner.player, &outcome, &before, &after, &|name| folder.read(name)));
    Ok(found)
}

fn words(error: ServiceError) -> String {
    format!("{}: {}", error.code(), error.detail())
}

/// Opens on a thread of its own: the future of opening cannot move between threads, that of a case must.
async fn open(options: OpenOptions) -> Result<Service, ServiceError> {
    let runtime = tokio::runtime::Handle::current();
    let opened = tokio::task::spawn_blocking(move || runtime.block_on(Service::open(options)));
    opened.await.unwrap_or_else(|error| Err(ServiceError::new(ErrorCode::Internal, error.to_string())))
}

/// Plays the turn before; it may stop at a card, which then stays there.
async fn play_earlier(
    service: &Service,
    workspace: &WorkspaceId,
    earlier: &Earlier,
) -> Result<TaskId, ServiceError> {
    let script = earlier.script.clone();
    let intake = TaskIntake {
        goal: earlier.goal.clone(),
        workspace: workspace.clone(),
        channel: Channel::Cli,
        session: None,
        follow_up_of: None,
        provider: Some(ProviderChoice::Scripted { label: "earlier".to_owned(), script }),
        limits: None,
    };
    let task = TaskId::from_text(service.create_task(intake).await?.id);
    service.run_to_stop(&task).await?;
    Ok(task)
}

struct Session {
    service: Service,
    task: TaskId,
}

impl Session {
    async fn open(data: &Path, root: &Path, case: &Case, runner: &Runner) -> Result<Self, ServiceError> {
        let player = runner.player;
        let mut options = OpenOptions::new(data)?;
        options.home = None;
        options.skills_dir = None;
        options.keys = Keys::memory_only();
        if let Some(program) = &runner.worker {
            options.worker.program.clone_from(program);
            options.mcp.supervisor.program.clone_from(program);
        }
        options.mcp.servers = (!case.mcp.servers.is_empty())
            .then(|| serde_json::Value::Object(case.mcp.servers.clone()).to_string());
        options.in_memory = true;
        options.traps = case.traps.clone().into_iter().collect();
        options.chinese = case.chinese;
        if player == Player::Script {
            options.environment = EnvironmentProvider::default();
        }
        let service = open(options).await?;
        let workspace =
            WorkspaceId::from_text(service.add_workspace(root, Some(case.mcp.allowed.clone())).await?.id);
        let provider = match (player, &case.script) {
            (Player::Environment, _) => ProviderChoice::Env,
            (Player::Script, Some(script)) => {
                ProviderChoice::Scripted { label: case.name.clone(), script: script.clone() }
            }
            (Player::Script, None) => ProviderChoice::Offline,
        };
        if player == Player::Environment {
            service.give_consent(&workspace, "env").await?;
        }
        let follow_up_of = match &case.earlier {
            Some(earlier) => Some(play_earlier(&service, &workspace, earlier).await?),
            None => None,
        };
        let limits = case.max_steps.map(|max_steps| TaskLimits { max_steps, ..TaskLimits::default() });
        let intake = TaskIntake {
            goal: case.goal.clone(),
            workspace,
            channel: case.channel.unwrap_or(Channel::Cli),
            session: None,
            follow_up_of,
            provider: Some(provider),
            limits,
        };
        let task = TaskId::from_text(service.create_task(intake).await?.id);
        Ok(Self { service, task })
    }

    /// Runs to each stop and decides there, until there is nothing left to decide.
    async fn decide_all(
        &self,
        decisions: &[CaseDecision],
        player: Player,
        found: &mut Vec<String>,
    ) -> Result<(), ServiceError> {
        let mut left = decisions.iter();
        loop {
            let stop = self.service.run_to_stop(&self.task).await?;
            if stop.status != TaskStatus::WaitingApproval {
                // A real model may well ask less often than the script does.
                if player == Player::Script && left.next().is_some() {
                    found.push("the task ended before the person had decided everything".to_owned());
                }
                return Ok(());
            }
            loop {
                let Some(decision) = left.next() else { return Ok(()) };
                if self.decide(decision, found).await? {
                    break;
                }
            }
        }
    }

    /// True when the card is decided; false when the decision was refused, as the case says that it must be.
    async fn decide(&self, decision: &CaseDecision, found: &mut Vec<String>) -> Result<bool, ServiceError> {
        let waiting = self.service.task(&self.task).await?.waiting_approval;
        let Some(id) = waiting.map(ApprovalId::from_text) else {
            return Err(ServiceError::new(ErrorCode::Internal, "a waiting task has no card"));
        };
        match decision {
            CaseDecision::Reject { reject } => {
                let note = Some(reject.clone()).filter(|note| !note.is_empty());
                self.service.reject(&id, note, Decider::Eval).await?;
                Ok(true)
            }
            CaseDecision::Approve { edit, refused, .. } => {
                let approve = Approve { id, shown: None, arguments: edit.clone(), by: Decider::Eval };
                match (self.service.approve(approve).await, refused) {
                    (Ok(_), None) => Ok(true),
                    (Err(error), Some(code)) if error.code() == *code => Ok(false),
                    (Err(error), None) => Err(error),
                    (Err(error), Some(code)) => {
                        found.push(format!(
                            "the decision was to be refused with {code}, and was with {}",
                            error.code()
                        ));
                        Ok(false)
                    }
                    (Ok(_), Some(code)) => {
                        found
                            .push(format!("the decision was to be refused with {code}, and was carried out"));
                        Ok(true)
                    }
                }
            }
        }
    }

    async fn outcome(&self) -> Result<Outcome, ServiceError> {
        let detail = self.service.task_detail(&self.task).await?;
        let audit = self.service.verify_audit().await?;
        Ok(Outcome {
            status: detail.task.status,
            code: detail.task.code,
            answer: detail.task.answer.clone(),
            artifacts: detail.artifacts.iter().map(|artifact| artifact.path.clone()).collect(),
            events: detail.events.into_iter().map(|record| record.event).collect(),
            chain_whole: audit.intact,
        })
    }
}
