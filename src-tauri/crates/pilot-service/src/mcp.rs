//! Outside servers: declared in the settings or the environment, allowed by each workspace, tried by the person.

use crate::error::{ServiceError, blocking};
use crate::open::Service;
use crate::view::{
    McpCheckView, McpRule, McpServerRequest, McpServerView, McpSource, McpToolView, McpView, WorkspaceView,
};
use pilot_agent::ToolContext;
use pilot_store::{settings, workspaces};
use pilot_tools::WorkerCommand;
use pilot_tools::mcp::{
    BUILT_IN_SERVER, Confinement, McpDeps, McpLimits, McpSetup, ServerDeclaration, ToolDeclaration, greet,
    read_server, read_servers, resolve, tool_name,
};
use pilot_types::{Capability, ErrorCode, Event, Source, Verdict, WorkspaceId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Where the settings keep it.
const KEY: &str = "mcp";
/// Folder below the data folder in which a server is tried: empty, and nobody's.
const TRIAL_FOLDER: &str = "mcp-check";

/// How outside programs are declared and started; fixed for the life of a process.
#[derive(Clone, Debug)]
pub struct McpOptions {
    /// Program that starts a server below itself; normally this very program.
    pub supervisor: WorkerCommand,
    /// Declarations of the environment (`POCKETPILOT_MCP_SERVERS`).
    pub servers: Option<String>,
    /// Bounds of one call.
    pub limits: McpLimits,
    /// What the kernel can hold a program to.
    pub confinement: Confinement,
}

impl McpOptions {
    /// This program as supervisor, the environment's declarations, what this kernel has.
    ///
    /// # Errors
    /// When the path of the running program cannot be found.
    pub fn from_process() -> Result<Self, ServiceError> {
        let supervisor = pilot_tools::mcp::this_supervisor().map_err(|error| {
            ServiceError::new(ErrorCode::Internal, format!("own program not found: {error}"))
        })?;
        Ok(Self {
            supervisor,
            servers: std::env::var("POCKETPILOT_MCP_SERVERS").ok().filter(|text| !text.trim().is_empty()),
            limits: McpLimits::default(),
            confinement: Confinement::of_this_computer(),
        })
    }
}

/// As it is stored.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Stored {
    servers: BTreeMap<String, Value>,
    demand_confinement: bool,
}

/// All declarations that can be used, and what is wrong with the others.
struct Declared {
    servers: BTreeMap<String, (McpSource, ServerDeclaration)>,
    problems: Vec<String>,
    demand: bool,
}

impl Service {
    async fn stored_mcp(&self) -> Result<Stored, ServiceError> {
        Ok(settings::get(&mut *self.inner.store.read().await?, KEY).await?.unwrap_or_default())
    }

    /// The environment wins over the settings: it is what this process was started with.
    async fn declared_mcp(&self) -> Result<Declared, ServiceError> {
        let stored = self.stored_mcp().await?;
        let (mut servers, mut problems) = (BTreeMap::new(), Vec::new());
        for (name, value) in &stored.servers {
            match read_server(name, value) {
                Ok(server) => drop(servers.insert(name.clone(), (McpSource::Settings, server))),
                Err(problem) => problems.push(problem.to_string()),
            }
        }
        if let Some(text) = &self.inner.mcp.servers {
            let (named, wrong) = read_servers(text);
            problems.extend(wrong.iter().map(|problem| format!("POCKETPILOT_MCP_SERVERS: {problem}")));
            servers.extend(named.into_iter().map(|(name, server)| (name, (McpSource::Environment, server))));
        }
        Ok(Declared { servers, problems, demand: stored.demand_confinement })
    }

    fn mcp_setup(&self, demand: bool) -> McpSetup {
        let McpOptions { supervisor, limits, confinement, .. } = self.inner.mcp.clone();
        let off_limits = self.inner.home.iter().cloned().chain([self.data_dir().to_path_buf()]).collect();
        McpSetup { supervisor, limits, confinement, demand, off_limits }
    }

    /// The outside tools of a workspace: what is declared *and* named in it.
    pub(crate) async fn mcp_deps(&self, allowed: &[String]) -> Result<McpDeps, ServiceError> {
        let declared = if allowed.is_empty() {
            Declared { servers: BTreeMap::new(), problems: Vec::new(), demand: false }
        } else {
            self.declared_mcp().await?
        };
        let allowed: BTreeSet<&str> = allowed.iter().map(String::as_str).collect();
        let built_in = allowed.contains(BUILT_IN_SERVER) && !declared.servers.contains_key(BUILT_IN_SERVER);
        let servers = declared
            .servers
            .into_iter()
            .filter(|(name, _)| allowed.contains(name.as_str()))
            .map(|(name, (_, server))| (name, server))
            .collect();
        Ok(McpDeps { setup: Arc::new(self.mcp_setup(declared.demand)), servers, built_in })
    }

    /// All servers with their tools, and what holds them.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn mcp(&self) -> Result<McpView, ServiceError> {
        let declared = self.declared_mcp().await?;
        let folders = workspaces::list(&mut *self.inner.store.read().await?).await?;
        let allowing = |name: &str| -> Vec<String> {
            let allow = folders.iter().filter(|row| row.allowed_mcp.iter().any(|allowed| allowed == name));
            allow.map(|row| row.id.to_string()).collect()
        };
        let mut servers = Vec::new();
        if !declared.servers.contains_key(BUILT_IN_SERVER) {
            servers.push(built_in(allowing(BUILT_IN_SERVER)));
        }
        let confinement = self.inner.mcp.confinement;
        for (name, (source, server)) in declared.servers {
            let tools =
                server.tools.iter().map(|(tool, declared)| view_of(&name, tool, declared, confinement));
            servers.push(McpServerView {
                tools: tools.collect(),
                workspaces: allowing(&name),
                source,
                declaration: serde_json::to_value(&server).unwrap_or_default(),
                command: server.command,
                args: server.args,
                env: server.env,
                id: name,
            });
        }
        Ok(McpView {
            servers,
            problems: declared.problems,
            confinement: confinement.into(),
            demand_confinement: declared.demand,
        })
    }

    /// Declares a server, or changes the one of that name. Cards that wait for it become void when they are decided.
    ///
    /// # Errors
    /// The declaration cannot be used: nothing is saved, and the words say where it is wrong.
    pub async fn save_mcp_server(&self, request: McpServerRequest) -> Result<McpView, ServiceError> {
        let name = request.name.trim().to_owned();
        let server = read_server(&name, &request.declaration).map_err(|problem| {
            ServiceError::new(ErrorCode::McpDeclaration, problem.to_string()).about(problem.to_string())
        })?;
        let value = serde_json::to_value(&server)
            .map_err(|error| ServiceError::new(ErrorCode::Internal, error.to_string()))?;
        let mut stored = self.stored_mcp().await?;
        stored.servers.insert(name.clone(), value);
        self.store_mcp(&stored, "mcp_server_saved", &name).await
    }

    /// Removes a server of the settings. What a workspace allows by its name stays, and reaches nothing.
    ///
    /// # Errors
    /// None of that name stands in the settings.
    pub async fn remove_mcp_server(&self, name: &str) -> Result<McpView, ServiceError> {
        let mut stored = self.stored_mcp().await?;
        if stored.servers.remove(name).is_none() {
            return Err(not_found(name));
        }
        self.store_mcp(&stored, "mcp_server_removed", name).await
    }

    /// Says whether outside programs may run where they cannot be confined.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn demand_confinement(&self, demand: bool) -> Result<McpView, ServiceError> {
        let mut stored = self.stored_mcp().await?;
        stored.demand_confinement = demand;
        let action = if demand { "mcp_confinement_demanded" } else { "mcp_confinement_not_demanded" };
        self.store_mcp(&stored, action, "").await
    }

    async fn store_mcp(&self, stored: &Stored, action: &str, name: &str) -> Result<McpView, ServiceError> {
        let mut tx = self.begin().await?;
        settings::set(&mut tx, KEY, stored).await?;
        let event = Event::OperatorActed {
            action: action.to_owned(),
            workspace: None,
            subject: Some(name.to_owned()).filter(|name| !name.is_empty()),
        };
        let records = self.append(&mut tx, None, Source::Operator, &[event]).await?;
        self.commit(tx, records).await?;
        self.inner.bus.changed();
        self.mcp().await
    }

    /// Allows a server in one workspace, or no longer.
    ///
    /// # Errors
    /// No such workspace.
    pub async fn allow_mcp(
        &self,
        id: &WorkspaceId,
        name: &str,
        allowed: bool,
    ) -> Result<WorkspaceView, ServiceError> {
        let mut row = self.workspace_row(id).await?;
        row.allowed_mcp.retain(|known| known != name);
        if allowed {
            row.allowed_mcp.push(name.to_owned());
        }
        let mut tx = self.begin().await?;
        workspaces::update(&mut tx, &row).await?;
        let event = Event::OperatorActed {
            action: if allowed { "mcp_server_allowed" } else { "mcp_server_disallowed" }.to_owned(),
            workspace: Some(id.clone()),
            subject: Some(name.to_owned()),
        };
        let records = self.append(&mut tx, None, Source::Operator, &[event]).await?;
        self.commit(tx, records).await?;
        self.inner.bus.changed();
        self.workspace(id).await
    }

    /// Starts a server in an empty folder, shakes hands, and ends it. No tool is called.
    ///
    /// # Errors
    /// In words: what is wrong with it.
    pub async fn check_mcp_server(&self, name: &str) -> Result<McpCheckView, ServiceError> {
        let declared = self.declared_mcp().await?;
        let confinement = self.inner.mcp.confinement.into();
        let Some((_, server)) = declared.servers.get(name) else {
            return if name == BUILT_IN_SERVER {
                Ok(McpCheckView {
                    id: name.to_owned(),
                    server: "PocketPilot".to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    protocol: String::new(),
                    confinement,
                    millis: 0,
                })
            } else {
                Err(not_found(name))
            };
        };
        let folder = self.data_dir().join(TRIAL_FOLDER);
        let made = folder.clone();
        let folder = blocking(move || {
            pilot_guard::make_folder(&made)?;
            Ok(pilot_guard::WorkspaceGuard::open(&made)?.root().to_path_buf())
        })
        .await?;
        let began = self.inner.clock.monotonic();
        let context = ToolContext { cancel: CancellationToken::new() };
        let greeting = greet(&self.mcp_setup(declared.demand), server, &folder, &context)
            .await
            .map_err(|error| ServiceError::from(error).about(name))?;
        let took = self.inner.clock.monotonic().saturating_sub(began);
        Ok(McpCheckView {
            id: name.to_owned(),
            server: greeting.name,
            version: greeting.version,
            protocol: greeting.protocol,
            confinement,
            millis: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// What is wrong with declarations, for the doctor.
    pub(crate) async fn mcp_problems(&self) -> Result<Vec<String>, ServiceError> {
        Ok(self.declared_mcp().await?.problems)
    }
}

fn not_found(name: &str) -> ServiceError {
    ServiceError::new(ErrorCode::McpServerNotFound, "no outside server of this name").about(name)
}

fn rule_of(capability: Option<&Capability>) -> McpRule {
    let Some(capability) = capability else { return McpRule::Hidden };
    match pilot_policy::decide(capability) {
        Verdict::Allow { .. } => McpRule::RunsFreely,
        Verdict::RequireApproval { .. } => McpRule::Asks,
        Verdict::Deny { .. } => McpRule::Refused,
    }
}

fn view_of(server: &str, tool: &str, declared: &ToolDeclaration, confinement: Confinement) -> McpToolView {
    let resolved = resolve(tool, declared, confinement);
    McpToolView {
        tool: tool.to_owned(),
        name: tool_name(server, tool),
        rule: rule_of(resolved.capability.as_ref()),
        capability: resolved.capability.map(|capability| capability.as_str().to_owned()),
        found: resolved.found.into(),
        paths: declared.path_names(),
    }
}

fn built_in(workspaces: Vec<String>) -> McpServerView {
    let tool = |tool: &str, capability: &str| McpToolView {
        tool: tool.to_owned(),
        name: tool_name(BUILT_IN_SERVER, tool),
        rule: rule_of(Some(&Capability::declared(capability))),
        capability: Some(capability.to_owned()),
        found: crate::view::CapabilityFound::Declared,
        paths: vec!["path".to_owned()],
    };
    McpServerView {
        id: BUILT_IN_SERVER.to_owned(),
        source: McpSource::BuiltIn,
        command: String::new(),
        args: Vec::new(),
        env: Vec::new(),
        tools: vec![tool("read_text", "file:read"), tool("write_text", "file:write")],
        workspaces,
        declaration: Value::Null,
    }
}
