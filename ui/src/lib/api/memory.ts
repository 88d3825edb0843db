/**
 * The core as recordings, for tests, pictures and design work. `memory-data/*.json` holds what the commands gave:
 * `app` app_state · `approvals` approval_get · `approval-rows` approval_list · `tasks` task_get · `files` files_list and
 * file_preview by workspace · `undo` artifact_undo_preview · `people` memory_get, skill_get and memory_history · `presets` provider_presets (a test of the core keeps it
 * equal) · `usage` usage_list · `automations` automation_state · `mcp` mcp_state. Swapping a file swaps what is shown. What changes something is
 * played on a copy; nothing here decides what a real core would.
 *
 * Address parameters: `first-run`, `empty`, `lang=zh-CN|en`, `theme=light|dark`, `workspace=ID`, `speed=0…1`,
 * `stale=CARD` (its file changed), `decided=CARD` (decided elsewhere), `large=CARD` (very many rows), `fail=COMMAND:code`,
 * `memory-broken` (a page is a link), `memory=quiet` (no card waits for it), `upload-plain` (no name is taken), `upload-slow`,
 * `dragged=N` (files are over the window), `file-changed=PATH`, `watch=told|looked|gone`,
 * `local` (servers on this computer: one with models, one still loading), `test=CODE` (how a try of a model ends),
 * `consent` (asked before each task), `keyring=missing|locked|hanging`, `tray=none`,
 * `gone=WORKSPACE` (its folder is not there), `safety=CASE` (that case does not hold), `confinement=files_only|none`.
 */
import { en } from '../i18n/en';
import { PilotError, type ArgumentsOf, type Backend, type CommandName, type RequestOf, type ResultOf } from './client';
import type { AppView } from './generated/AppView';
import type { ApprovalRowView } from './generated/ApprovalRowView';
import type { ApprovalView } from './generated/ApprovalView';
import type { ArtifactView } from './generated/ArtifactView';
import type { AutomationsView } from './generated/AutomationsView';
import type { BackupView } from './generated/BackupView';
import type { DataUsageView } from './generated/DataUsageView';
import type { ErrorCode } from './generated/ErrorCode';
import type { McpView } from './generated/McpView';
import type { FolderView } from './generated/FolderView';
import type { LocalServerView } from './generated/LocalServerView';
import type { PresetView } from './generated/PresetView';
import type { PreviewView } from './generated/PreviewView';
import type { SafetyCaseView } from './generated/SafetyCaseView';
import type { TaskDetailView } from './generated/TaskDetailView';
import type { UndoPreview } from './generated/UndoPreview';
import type { UsageDayView } from './generated/UsageDayView';
import type { WindowEvent } from './generated/WindowEvent';
import { People, type PeopleRecording } from './memory-people';
import { automationHandlers } from './memory-automations';
import { Conversations } from './memory-sessions';
import { Play } from './memory-play';

/** Everything that was recorded. */
export type Recording = {
  app: AppView;
  approvals: ApprovalView[];
  rows: ApprovalRowView[];
  tasks: TaskDetailView[];
  files: Record<string, { folders: FolderView[]; previews: PreviewView[] }>;
  undo: UndoPreview[];
  people: PeopleRecording;
  presets: PresetView[];
  usage: UsageDayView[];
  automations: AutomationsView;
  mcp: McpView;
};

/** Loads the recordings; the one place that knows their names. */
export async function loadRecording(): Promise<Recording> {
  const [app, approvals, rows, tasks, files, undo, people, presets, usage, automations, mcp] = await Promise.all([
    import('./memory-data/app.json'), import('./memory-data/approvals.json'), import('./memory-data/approval-rows.json'),
    import('./memory-data/tasks.json'), import('./memory-data/files.json'), import('./memory-data/undo.json'),
    import('./memory-data/people.json'), import('./memory-data/presets.json'), import('./memory-data/usage.json'),
    import('./memory-data/automations.json'), import('./memory-data/mcp.json'),
  ]);
  // The JSON of the core has the types of the core; TypeScript sees only strings in it.
  return structuredClone({ app: app.default, approvals: approvals.default, rows: rows.default, tasks: tasks.default, files: files.default, undo: undo.default, people: people.default, presets: presets.default, usage: usage.default, automations: automations.default, mcp: mcp.default }) as unknown as Recording;
}

type Handlers = { [K in CommandName]: (request: RequestOf<K>) => ResultOf<K> | Promise<ResultOf<K>> };

const refuse = (code: ErrorCode, message: string, subject: string | null = null): never => {
  throw new PilotError({ code, message, subject });
};

/** A core that plays recordings. */
export class MemoryBackend implements Backend {
  private readonly listeners = new Set<(event: WindowEvent) => void>();
  private readonly play: Play;
  readonly people: People;
  private readonly sessions: Conversations;
  private readonly kept: DataUsageView = { database_bytes: 4_812_800, undo_entries: 14, undo_bytes: 1_394_000, logs: 5, log_bytes: 86_400 };
  private consented = new Set<string>();

  constructor(
    private readonly data: Recording,
    private readonly query: URLSearchParams,
  ) {
    this.play = new Play(data, (event) => this.emit(event), query);
    this.play.prepare();
    this.people = new People(data.people, (event) => this.emit(event), query);
    this.sessions = new Conversations(data);
  }

  async call<K extends CommandName>(name: K, ...request: ArgumentsOf<K>): Promise<ResultOf<K>> {
    await new Promise((done) => setTimeout(done, 2));
    const fail = this.query.get('fail')?.split(':');
    if (fail?.[0] === name) refuse((fail[1] ?? 'internal') as ErrorCode, 'asked to fail');
    const handler = this.handlers[name] as (request: unknown) => ResultOf<K> | Promise<ResultOf<K>>;
    // A copy on the way in and out, as over a real wire.
    return structuredClone(await handler(structuredClone(request[0])));
  }

  listen(handler: (event: WindowEvent) => void): Promise<() => void> {
    this.listeners.add(handler);
    const dragged = this.query.get('dragged');
    if (dragged !== null) setTimeout(() => this.emit({ type: 'files_dragged', files: Number(dragged) }), 50);
    if (this.query.has('file-changed')) setTimeout(() => this.emit({ type: 'files_changed', workspace: this.data.app.workspaces[0]?.id ?? '', paths: [this.query.get('file-changed') ?? ''], everything: false }), 400);
    const watch = this.query.get('watch');
    if (watch === 'told' || watch === 'looked' || watch === 'gone') setTimeout(() => this.emit({ type: 'folder_watched', workspace: this.data.app.workspaces[0]?.id ?? '', state: watch }), 300);
    return Promise.resolve(() => this.listeners.delete(handler));
  }

  private emit(event: WindowEvent): void {
    for (const listener of this.listeners) listener(structuredClone(event));
  }

  private workspace(id: string) {
    return this.data.app.workspaces.find((one) => one.id === id) ?? refuse('workspace_not_found', 'no such workspace', id);
  }

  private localServers(): LocalServerView[] {
    if (!this.query.has('local')) return [];
    const of = (preset: string, models: string[], loading: boolean): LocalServerView => {
      const { name, base_url } = this.data.presets.find((one) => one.id === preset) ?? refuse('internal', 'no such preset', preset);
      const known = this.data.app.providers.find((one) => one.base_url === base_url);
      return { preset, name, base_url, models, loading, provider: known?.name ?? null };
    };
    return [of('ollama', ['qwen3:8b', 'llama3.2:3b', 'mistral:7b'], false), of('lm-studio', ['qwen2.5-7b-instruct'], false), of('llama-cpp', [], true)];
  }

  private artifact(id: string): ArtifactView {
    const found = this.data.tasks.flatMap((task) => task.artifacts).find((artifact) => artifact.id === id);
    return found ?? refuse('artifact_not_found', 'no such artifact', id);
  }

  private backup(undo: boolean): BackupView {
    return { version: this.data.app.version, schema: 3, made_at: '2026-11-29T17:20:00Z', tasks: this.data.tasks.length, undo_entries: undo ? this.kept.undo_entries : 0, database_bytes: this.kept.database_bytes };
  }

  private safety(name: string): SafetyCaseView {
    const held = this.query.get('safety') !== name;
    return { name, held, problems: held ? [] : ['memory/MEMORY.md: changed'], millis: 6 };
  }

  private mcp(): McpView {
    const asked = this.query.get('confinement');
    return asked === 'files_only' || asked === 'none' ? { ...this.data.mcp, confinement: { state: asked, abi: asked === 'none' ? 0 : 3 } } : this.data.mcp;
  }

  private readonly handlers: Handlers = {
    app_state: () => this.play.appView(),
    workspace_choose: () => this.play.addWorkspace('chosen', 'invoices-2026-Q4', '~/Documents/invoices-2026-Q4'),
    workspace_add: ({ path }) => this.play.addWorkspace(path, path.slice(path.lastIndexOf('/') + 1), path),
    demo_open: () => this.play.demo(),
    workspace_move: ({ id }) => Object.assign(this.workspace(id), { present: true, replaced: false }),
    workspace_remove: ({ id }) => {
      this.data.app.workspaces = this.data.app.workspaces.filter((one) => one.id !== id);
      return null;
    },
    workspace_set_provider: ({ id, provider }) => Object.assign(this.workspace(id), { provider }),
    consent_give: ({ workspace, provider }) => {
      this.consented.add(`${workspace}/${provider}`);
      return null;
    },
    task_create: (request) => {
      const workspace = this.workspace(request.workspace);
      const provider = this.data.app.providers.find((one) => one.name === (request.provider ?? workspace.provider));
      const asks = this.query.has('consent') || provider?.local === false;
      if (asks && !this.consented.has(`${workspace.id}/${workspace.provider}`)) refuse('consent_required', 'content would leave this computer', 'api.example.com');
      return this.play.create(workspace, request.goal, request.session);
    },
    task_list: ({ workspace }) => this.data.tasks.map((one) => one.task).filter((task) => workspace === null || task.workspace === workspace),
    task_get: ({ id }) => this.play.task(id),
    task_cancel: ({ id }) => this.play.cancel(id),
    task_resume: ({ id }) => this.play.resume(id),
    task_again: ({ id, files }) => this.play.again(id, files),
    task_deletion: ({ id }) => this.play.deletion(id),
    task_delete: ({ id }) => this.play.remove(id),
    session_list: (request) => this.sessions.list(request),
    session_get: ({ id }) => this.sessions.get(id),
    session_rename: ({ id, title }) => this.sessions.rename(id, title),
    session_archive: ({ id, archived }) => this.sessions.archive(id, archived),
    reach: ({ workspace }) => {
      const known = this.data.tasks.find((one) => one.task.workspace === workspace) ?? this.data.tasks[0];
      const provider = this.data.app.providers.find((one) => one.name === this.workspace(workspace).provider);
      return { ...(known?.reach ?? refuse('workspace_not_found', 'nothing recorded')), sends_to: provider?.local === false ? 'api.example.com' : null };
    },
    approval_list: ({ all }) => this.play.rows(all),
    approval_get: ({ id }) => this.play.card(id),
    approval_preview_edit: ({ id, arguments: given }) => this.play.previewEdit(id, given),
    approval_approve: (request) => this.play.approve(request),
    approval_reject: ({ id, note }) => this.play.reject(id, note),
    ...automationHandlers(() => this.data, () => this.emit({ type: 'changed' }), () => this.query),
    files_list: ({ workspace, path, offset, limit }) => {
      const folder = this.data.files[workspace]?.folders.find((one) => one.path === path);
      if (!folder) return path === '' ? { path, entries: [], total: 0, offset: 0 } : refuse('not_found', 'no such folder', path);
      return { ...folder, entries: folder.entries.slice(offset, offset + limit), offset };
    },
    file_preview: ({ workspace, path }) => this.data.files[workspace]?.previews.find((one) => one.path === path) ?? refuse('document_unsupported', 'nothing recorded for this file', path),
    files_add: ({ workspace, folder }) => this.people.plan(workspace, folder),
    upload_run: (request) => this.people.run(request),
    upload_cancel: ({ id }) => (this.people.cancel(id), null),
    memory_get: ({ workspace, path }) => this.people.memory(workspace, path),
    memory_preview: ({ workspace, path, text }) => this.people.injection(workspace, { path, text }),
    memory_save: (request) => this.people.save(request),
    memory_history: ({ path }) => this.people.history(path),
    memory_version: ({ workspace, path, digest }) => this.people.version(workspace, path, digest),
    memory_restore: ({ workspace, path, digest, now }) => this.people.restore(workspace, path, digest, now),
    skill_list: ({ workspace }) => this.people.skills(workspace),
    skill_get: ({ workspace, source, folder }) => this.people.skill(workspace, source, folder),
    skill_save: (request) => this.people.saveSkill(request),
    skill_remove: ({ workspace, folder, base }) => this.people.removeSkill(workspace, folder, base),
    edit_undo: ({ id }) => this.people.undo(id),
    artifact_list: ({ workspace }) => this.data.tasks.flatMap((one) => one.artifacts).filter((artifact) => workspace === null || artifact.workspace === workspace),
    artifact_open: ({ id }) => (this.artifact(id), null),
    artifact_show: ({ id }) => (this.artifact(id), null),
    artifact_save_as: ({ id }) => (this.artifact(id), true),
    artifact_undo_preview: ({ id }) => this.data.undo.find((one) => one.artifact.id === id) ?? { artifact: this.artifact(id), removes: true, difference: null },
    artifact_undo: ({ id }) => this.play.undo(this.artifact(id)),
    settings_save: (settings) => {
      this.data.app.settings = settings;
      return this.play.appView();
    },
    provider_presets: () => this.data.presets,
    provider_detect: () => this.localServers(),
    provider_models: ({ base_url }) => (base_url.includes('127.0.0.1') ? ['qwen3:8b', 'llama3.2:3b', 'mistral:7b'] : ['example-small', 'example-large']),
    provider_test: ({ model, base_url }) => {
      const code = this.query.get('test') as ErrorCode | null;
      const refused = code !== null && code !== ('no_call' as string);
      return { ok: !refused, code: refused ? code : null, message: refused ? 'asked to fail' : '', subject: refused ? new URL(base_url).host : model, called_tool: code === null, models: [], millis: 412 };
    },
    usage_list: ({ days }) => {
      const from = new Date(Date.parse('2026-11-30') - (days - 1) * 86_400_000).toISOString().slice(0, 10);
      return this.data.usage.filter((row) => row.day >= from);
    },
    provider_save: (request) => {
      const local = /^https?:\/\/(127\.0\.0\.1|localhost|\[::1\])/.test(request.base_url);
      const known = this.data.app.providers.find((one) => one.name === request.name);
      if (known) Object.assign(known, request, { local });
      else this.data.app.providers.push({ ...request, local, has_key: false, key_for_this_run: false });
      return this.play.appView();
    },
    provider_remove: ({ name }) => {
      this.data.app.providers = this.data.app.providers.filter((one) => one.name !== name);
      return this.play.appView();
    },
    provider_key_save: ({ name }) => {
      const known = this.data.app.providers.find((one) => one.name === name);
      if (known) Object.assign(known, { has_key: true, key_for_this_run: this.data.app.keyring !== 'ready' });
      return this.play.appView();
    },
    provider_key_remove: ({ name }) => {
      const known = this.data.app.providers.find((one) => one.name === name);
      if (known) Object.assign(known, { has_key: false, key_for_this_run: false });
      return this.play.appView();
    },
    mcp_state: () => this.mcp(),
    mcp_server_save: ({ name, declaration }) => {
      const { command, args, env } = { command: '', args: [], env: [], ...(declaration as object) } as { command: string; args: string[]; env: string[] };
      if (command.includes('/') && !command.startsWith('/')) refuse('mcp_declaration', 'a program is named by its absolute path', `${name}.command: a program is named by its absolute path`);
      const known = this.data.mcp.servers.find((one) => one.id === name);
      if (known) Object.assign(known, { command, args, env, declaration });
      else this.data.mcp.servers.push({ id: name, source: 'settings', command, args, env, tools: [], workspaces: [], declaration });
      return this.mcp();
    },
    mcp_server_remove: ({ name }) => {
      this.data.mcp.servers = this.data.mcp.servers.filter((one) => one.id !== name);
      return this.mcp();
    },
    mcp_server_check: ({ name }) => {
      if (name === 'archive') refuse('mcp_not_started', 'there is no program "archive-mcp" on this computer', name);
      return { id: name, server: name === 'workspace-fs' ? 'PocketPilot' : `${name}-mcp`, version: '1.4.2', protocol: '2025-11-25', confinement: this.mcp().confinement, millis: 84 };
    },
    mcp_demand: ({ demand }) => {
      this.data.mcp.demand_confinement = demand;
      return this.mcp();
    },
    mcp_allow: ({ workspace, name, allowed }) => {
      const server = this.data.mcp.servers.find((one) => one.id === name);
      if (server) server.workspaces = [...server.workspaces.filter((one) => one !== workspace), ...(allowed ? [workspace] : [])];
      return this.workspace(workspace);
    },
    audit_verify: () => ({ entries: this.data.app.log_entries, intact: this.data.app.log_broken_at === null, broken_at: this.data.app.log_broken_at }),
    safety_cases: () => Object.keys(en.settings.safety.cases),
    safety_run: ({ name }) => this.safety(name),
    data_usage: () => this.kept,
    undo_clear: () => Object.assign(this.kept, { undo_entries: 0, undo_bytes: 0 }),
    logs_clear: () => Object.assign(this.kept, { logs: 1, log_bytes: 0 }),
    backup_save: ({ undo }) => this.backup(undo),
    backup_choose: () => this.backup(true),
    backup_restore: () => null,
    backup_cancel: () => null,
    support_save: () => true,
    view_state: () => null,
    window_ready: () => null,
  };
}

/** Opens a core on the recordings. */
export async function openMemoryBackend(query = new URLSearchParams()): Promise<MemoryBackend> {
  return new MemoryBackend(await loadRecording(), query);
}
