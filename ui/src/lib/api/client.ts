/** The commands of the core and its events, as one typed interface. The real one is `tauri.ts`, the recorded one `memory.ts`. */
import type { AppView } from './generated/AppView';
import type { ApprovalRowView } from './generated/ApprovalRowView';
import type { ApprovalView } from './generated/ApprovalView';
import type { ApproveRequest } from './generated/ApproveRequest';
import type { ArtifactView } from './generated/ArtifactView';
import type { AuditView } from './generated/AuditView';
import type { ErrorView } from './generated/ErrorView';
import type { FolderView } from './generated/FolderView';
import type { McpCheckView } from './generated/McpCheckView';
import type { McpServerRequest } from './generated/McpServerRequest';
import type { McpView } from './generated/McpView';
import type { PreviewView } from './generated/PreviewView';
import type { ProviderRequest } from './generated/ProviderRequest';
import type { ReachView } from './generated/ReachView';
import type { SettingsView } from './generated/SettingsView';
import type { TaskDetailView } from './generated/TaskDetailView';
import type { TaskRequest } from './generated/TaskRequest';
import type { TaskView } from './generated/TaskView';
import type { UndoPreview } from './generated/UndoPreview';
import type { WindowEvent } from './generated/WindowEvent';
import type { WorkspaceView } from './generated/WorkspaceView';

type Nothing = undefined;
type Id = { id: string };

/** Name of each command with what it takes and what it gives. */
export interface Commands {
  app_state: [Nothing, AppView];
  workspace_choose: [Nothing, WorkspaceView | null];
  workspace_add: [{ path: string }, WorkspaceView];
  demo_open: [Nothing, WorkspaceView];
  workspace_remove: [Id, null];
  workspace_set_provider: [{ id: string; provider: string }, WorkspaceView];
  consent_give: [{ workspace: string; provider: string }, null];
  task_create: [TaskRequest, TaskView];
  task_list: [{ workspace: string | null }, TaskView[]];
  task_get: [Id, TaskDetailView];
  task_cancel: [Id, null];
  task_resume: [Id, TaskView];
  reach: [{ workspace: string; provider: string | null }, ReachView];
  approval_list: [{ all: boolean }, ApprovalRowView[]];
  approval_get: [Id, ApprovalView];
  approval_preview_edit: [{ id: string; rev: number; arguments: unknown }, ApprovalView];
  approval_approve: [ApproveRequest, ApprovalView];
  approval_reject: [{ id: string; note: string | null }, ApprovalView];
  files_list: [{ workspace: string; path: string; offset: number; limit: number }, FolderView];
  file_preview: [{ workspace: string; path: string; sheet: string | null }, PreviewView];
  files_add: [{ workspace: string }, string[]];
  artifact_list: [{ workspace: string | null }, ArtifactView[]];
  artifact_open: [Id, null];
  artifact_show: [Id, null];
  artifact_save_as: [Id, boolean];
  artifact_undo_preview: [Id, UndoPreview];
  artifact_undo: [Id, ArtifactView];
  settings_save: [SettingsView, AppView];
  provider_save: [ProviderRequest, AppView];
  provider_remove: [{ name: string }, AppView];
  provider_key_save: [{ name: string; key: string }, AppView];
  provider_key_remove: [{ name: string }, AppView];
  mcp_state: [Nothing, McpView];
  mcp_server_save: [McpServerRequest, McpView];
  mcp_server_remove: [{ name: string }, McpView];
  mcp_server_check: [{ name: string }, McpCheckView];
  mcp_demand: [{ demand: boolean }, McpView];
  mcp_allow: [{ workspace: string; name: string; allowed: boolean }, WorkspaceView];
  audit_verify: [Nothing, AuditView];
  /** What is on screen: where dropped files go, and the card that needs no notification. */
  view_state: [{ workspace: string | null; approval: string | null }, null];
  window_ready: [Nothing, null];
}

export type CommandName = keyof Commands;
export type RequestOf<K extends CommandName> = Commands[K][0];
export type ResultOf<K extends CommandName> = Commands[K][1];
/** Nothing, or the one request object. */
export type ArgumentsOf<K extends CommandName> = Commands[K][0] extends Nothing ? [] : [request: Commands[K][0]];

/** The core as the window sees it. Every failure is a `PilotError`. */
export interface Backend {
  /** Runs a command. */
  call<K extends CommandName>(name: K, ...request: ArgumentsOf<K>): Promise<ResultOf<K>>;
  /** Hears every event of the core until the returned function is called. */
  listen(handler: (event: WindowEvent) => void): Promise<() => void>;
}

/** A refused or failed command. `view.code` is what the window translates. */
export class PilotError extends Error {
  constructor(readonly view: ErrorView) {
    super(`${view.code}: ${view.message}`);
    this.name = 'PilotError';
  }
}

/** Makes an error view of whatever was thrown; anything unexpected is a fault of this program. */
export function errorView(thrown: unknown): ErrorView {
  if (thrown instanceof PilotError) return thrown.view;
  if (isErrorView(thrown)) return thrown;
  return { code: 'internal', message: thrown instanceof Error ? thrown.message : String(thrown), subject: null };
}

function isErrorView(value: unknown): value is ErrorView {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value;
}
