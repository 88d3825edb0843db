/** The commands of the core and its events, as one typed interface. The real one is `tauri.ts`, the recorded one `memory.ts`. */
import type { AppView } from './generated/AppView';
import type { ApprovalRowView } from './generated/ApprovalRowView';
import type { ApprovalView } from './generated/ApprovalView';
import type { ApproveRequest } from './generated/ApproveRequest';
import type { ArtifactView } from './generated/ArtifactView';
import type { AutomationsView } from './generated/AutomationsView';
import type { AuditView } from './generated/AuditView';
import type { EditView } from './generated/EditView';
import type { ChannelRequest } from './generated/ChannelRequest';
import type { BackupView } from './generated/BackupView';
import type { DataUsageView } from './generated/DataUsageView';
import type { DeletionView } from './generated/DeletionView';
import type { ErrorView } from './generated/ErrorView';
import type { FolderView } from './generated/FolderView';
import type { InjectionView } from './generated/InjectionView';
import type { MemoryRequest } from './generated/MemoryRequest';
import type { MemoryView } from './generated/MemoryView';
import type { LocalServerView } from './generated/LocalServerView';
import type { PresetView } from './generated/PresetView';
import type { NewChannelView } from './generated/NewChannelView';
import type { McpCheckView } from './generated/McpCheckView';
import type { McpServerRequest } from './generated/McpServerRequest';
import type { McpView } from './generated/McpView';
import type { PreviewView } from './generated/PreviewView';
import type { ProviderKind } from './generated/ProviderKind';
import type { ProviderRequest } from './generated/ProviderRequest';
import type { ProviderTestView } from './generated/ProviderTestView';
import type { ReachView } from './generated/ReachView';
import type { SchedulePreviewRequest } from './generated/SchedulePreviewRequest';
import type { SchedulePreviewView } from './generated/SchedulePreviewView';
import type { ScheduleRequest } from './generated/ScheduleRequest';
import type { ScheduleView } from './generated/ScheduleView';
import type { SafetyCaseView } from './generated/SafetyCaseView';
import type { SessionDetailView } from './generated/SessionDetailView';
import type { SessionListRequest } from './generated/SessionListRequest';
import type { SessionView } from './generated/SessionView';
import type { SettingsView } from './generated/SettingsView';
import type { SkillOrigin } from './generated/SkillOrigin';
import type { SkillRequest } from './generated/SkillRequest';
import type { SkillTextView } from './generated/SkillTextView';
import type { SkillView } from './generated/SkillView';
import type { TaskDetailView } from './generated/TaskDetailView';
import type { TaskRequest } from './generated/TaskRequest';
import type { TaskView } from './generated/TaskView';
import type { UndoPreview } from './generated/UndoPreview';
import type { UploadPlanView } from './generated/UploadPlanView';
import type { UploadRequest } from './generated/UploadRequest';
import type { UploadResultView } from './generated/UploadResultView';
import type { VersionTextView } from './generated/VersionTextView';
import type { VersionView } from './generated/VersionView';
import type { UsageDayView } from './generated/UsageDayView';
import type { WindowEvent } from './generated/WindowEvent';
import type { WorkspaceView } from './generated/WorkspaceView';

type Nothing = undefined;
type Id = { id: string };
/** A provider as it stands in a form. Without a key the saved one is used, at its own address only. */
export type ProviderDraft = { name: string | null; kind: ProviderKind; base_url: string; model: string; key: string | null };

/** Name of each command with what it takes and what it gives. */
export interface Commands {
  app_state: [Nothing, AppView];
  workspace_choose: [Nothing, WorkspaceView | null];
  workspace_add: [{ path: string }, WorkspaceView];
  demo_open: [Nothing, WorkspaceView];
  workspace_move: [Id, WorkspaceView | null];
  workspace_remove: [Id, null];
  workspace_set_provider: [{ id: string; provider: string }, WorkspaceView];
  consent_give: [{ workspace: string; provider: string }, null];
  task_create: [TaskRequest, TaskView];
  task_list: [{ workspace: string | null }, TaskView[]];
  task_get: [Id, TaskDetailView];
  task_cancel: [Id, null];
  task_resume: [Id, TaskView];
  task_again: [{ id: string; files: string[] }, TaskView];
  task_deletion: [Id, DeletionView];
  task_delete: [Id, null];
  session_list: [SessionListRequest, SessionView[]];
  session_get: [Id, SessionDetailView];
  session_rename: [{ id: string; title: string }, SessionView];
  session_archive: [{ id: string; archived: boolean }, SessionView];
  reach: [{ workspace: string; provider: string | null }, ReachView];
  approval_list: [{ all: boolean }, ApprovalRowView[]];
  approval_get: [Id, ApprovalView];
  approval_preview_edit: [{ id: string; rev: number; arguments: unknown }, ApprovalView];
  approval_approve: [ApproveRequest, ApprovalView];
  approval_reject: [{ id: string; note: string | null }, ApprovalView];
  automation_state: [Nothing, AutomationsView];
  automations_pause: [{ paused: boolean }, AutomationsView];
  schedule_preview: [SchedulePreviewRequest, SchedulePreviewView];
  schedule_save: [ScheduleRequest, ScheduleView];
  schedule_pause: [{ id: string; paused: boolean }, ScheduleView];
  schedule_run: [Id, TaskView];
  schedule_remove: [Id, null];
  /** The token is in this answer and nowhere else. */
  channel_add: [ChannelRequest, NewChannelView];
  channel_revoke: [Id, null];
  /** A real request with the token that was just shown; gives the task that it made. */
  channel_test: [{ id: string; token: string; text: string }, string];
  files_list: [{ workspace: string; path: string; offset: number; limit: number }, FolderView];
  file_preview: [{ workspace: string; path: string; sheet: string | null }, PreviewView];
  /** Picks files in the system's dialog; nothing is copied before `upload_run`. */
  files_add: [{ workspace: string; folder: string }, UploadPlanView | null];
  upload_run: [UploadRequest, UploadResultView];
  upload_cancel: [Id, null];
  memory_get: [{ workspace: string; path: string | null }, MemoryView];
  /** What a task would be given if the page were this text; writes nothing. */
  memory_preview: [{ workspace: string; path: string; text: string }, InjectionView];
  memory_save: [MemoryRequest, MemoryView];
  memory_history: [{ workspace: string; path: string | null }, VersionView[]];
  memory_version: [{ workspace: string; path: string; digest: string }, VersionTextView];
  memory_restore: [{ workspace: string; path: string; digest: string; now: string | null }, MemoryView];
  skill_list: [{ workspace: string | null }, SkillView[]];
  skill_get: [{ workspace: string | null; source: SkillOrigin; folder: string }, SkillTextView];
  skill_save: [SkillRequest, SkillTextView];
  /** Gives the id of the edit, by which it can be taken back. */
  skill_remove: [{ workspace: string; folder: string; base: string }, string];
  edit_undo: [Id, EditView];
  artifact_list: [{ workspace: string | null }, ArtifactView[]];
  artifact_open: [Id, null];
  artifact_show: [Id, null];
  artifact_save_as: [Id, boolean];
  artifact_undo_preview: [Id, UndoPreview];
  artifact_undo: [Id, ArtifactView];
  settings_save: [SettingsView, AppView];
  provider_presets: [Nothing, PresetView[]];
  /** Looks for servers on this computer; takes up to a second. */
  provider_detect: [Nothing, LocalServerView[]];
  provider_models: [ProviderDraft, string[]];
  provider_test: [ProviderDraft, ProviderTestView];
  provider_save: [ProviderRequest, AppView];
  provider_remove: [{ name: string }, AppView];
  provider_key_save: [{ name: string; key: string }, AppView];
  provider_key_remove: [{ name: string }, AppView];
  usage_list: [{ days: number }, UsageDayView[]];
  mcp_state: [Nothing, McpView];
  mcp_server_save: [McpServerRequest, McpView];
  mcp_server_remove: [{ name: string }, McpView];
  mcp_server_check: [{ name: string }, McpCheckView];
  mcp_demand: [{ demand: boolean }, McpView];
  mcp_allow: [{ workspace: string; name: string; allowed: boolean }, WorkspaceView];
  audit_verify: [Nothing, AuditView];
  safety_cases: [Nothing, string[]];
  safety_run: [{ name: string }, SafetyCaseView];
  data_usage: [Nothing, DataUsageView];
  undo_clear: [Nothing, DataUsageView];
  logs_clear: [Nothing, DataUsageView];
  backup_save: [{ undo: boolean }, BackupView | null];
  backup_choose: [Nothing, BackupView | null];
  /** Ends the program; the next start opens the backup. */
  backup_restore: [Nothing, null];
  backup_cancel: [Nothing, null];
  support_save: [Nothing, boolean];
  /** What is on screen: where dropped files go, and the card that needs no notification. */
  view_state: [{ workspace: string | null; folder: string | null; approval: string | null }, null];
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
