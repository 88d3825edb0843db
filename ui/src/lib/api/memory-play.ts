/** Plays what a core would do on the recordings: tasks that run, cards that are decided, files that change. */
import { PilotError } from './client';
import type { AppView } from './generated/AppView';
import type { ApprovalRowView } from './generated/ApprovalRowView';
import type { ApprovalView } from './generated/ApprovalView';
import type { ApproveRequest } from './generated/ApproveRequest';
import type { ArtifactView } from './generated/ArtifactView';
import type { ErrorCode } from './generated/ErrorCode';
import type { DeletionView } from './generated/DeletionView';
import type { DiffLine } from './generated/DiffLine';
import type { Event } from './generated/Event';
import type { TaskDetailView } from './generated/TaskDetailView';
import type { TaskStatus } from './generated/TaskStatus';
import type { TaskView } from './generated/TaskView';
import type { WindowEvent } from './generated/WindowEvent';
import type { WorkspaceView } from './generated/WorkspaceView';
import type { Recording } from './memory';
import { csvRows, spans, tableDifference, textDifference } from './memory-diff';

const refuse = (code: ErrorCode, message: string, subject: string | null = null): never => {
  throw new PilotError({ code, message, subject });
};

type Fields = { path?: unknown; content?: unknown; sheets?: unknown; mode?: unknown };

export class Play {
  private ids = 0;
  private position = 1000;
  private stale = new Set<string>();
  private decidedElsewhere = new Set<string>();
  private readonly demoWorkspace: WorkspaceView | undefined;

  constructor(
    private readonly data: Recording,
    private readonly emit: (event: WindowEvent) => void,
    private readonly query: URLSearchParams,
  ) {
    this.demoWorkspace = data.app.workspaces[0];
  }

  /** Puts the recordings into the state that the address asks for. */
  prepare(): void {
    const { app } = this.data;
    const language = this.query.get('lang');
    if (language === 'en' || language === 'zh-CN') app.settings.language = language;
    const theme = this.query.get('theme');
    if (theme === 'light' || theme === 'dark') app.settings.theme = theme;
    const keyring = this.query.get('keyring');
    if (keyring === 'missing' || keyring === 'locked' || keyring === 'hanging') app.keyring = keyring;
    if (this.query.get('tray') === 'none') app.tray = false;
    const first = app.workspaces.find((one) => one.id === this.query.get('workspace'));
    if (first) app.workspaces = [first, ...app.workspaces.filter((one) => one !== first)];
    const gone = app.workspaces.find((one) => one.id === this.query.get('gone'));
    if (gone) gone.present = false;
    if (this.query.has('first-run')) app.workspaces = [];
    if (this.query.has('first-run') || this.query.has('empty')) this.clear();
    const stale = this.query.get('stale');
    if (stale !== null) this.stale.add(stale);
    const decided = this.query.get('decided');
    if (decided !== null) this.decidedElsewhere.add(decided);
    const large = this.query.get('large');
    if (large !== null) this.enlarge(this.card(large));
  }

  private clear(): void {
    this.data.rows = [];
    this.data.tasks = this.data.tasks.filter((one) => one.task.id === 't-sum');
    for (const one of this.data.tasks) one.task.workspace = 'recorded';
  }

  private enlarge(card: ApprovalView): void {
    const lines: DiffLine[] = [];
    let [old, now] = [0, 0];
    const push = (kind: DiffLine['kind'], text: string, change: number) => {
      if (kind !== 'added') old += 1;
      if (kind !== 'removed') now += 1;
      lines.push({ kind, old: kind === 'added' ? null : old, new: kind === 'removed' ? null : now, spans: spans(text), change, no_line_end: false });
    };
    // Three replaced lines, each followed by two thousand new ones.
    for (let block = 0; block < 3; block += 1) {
      push('removed', `total of part ${block + 1}: ${block}00.00`, block * 2 + 1);
      push('added', `total of part ${block + 1}: ${block}50.00`, block * 2 + 1);
      push('same', `part ${block + 1}`, 0);
      for (let row = 0; row < 2000; row += 1) push('added', `row ${block * 2000 + row + 1}, ${(row * 37) % 1000}.00`, block * 2 + 2);
      push('same', '', 0);
    }
    push('same', 'the last line', 0);
    card.card.difference = { kind: 'text', lines };
    card.card.changes = 6;
    card.card.must_see = [1, 3, 5];
    card.card.numbers = { figures: [], known: 0, derived: 0, differs: 0, unsourced: 0 };
    card.card.flags = [];
  }

  appView(): AppView {
    const { app, tasks } = this.data;
    const shown = tasks.filter((one) => one.task.workspace !== 'recorded');
    return { ...app, waiting: this.waiting().length, running: shown.filter((one) => one.task.status === 'running' || one.task.status === 'queued').length };
  }

  rows(all: boolean): ApprovalRowView[] {
    return all ? [...this.waiting(), ...this.data.rows.filter((row) => row.state !== 'pending' && row.state !== 'executing')] : this.waiting();
  }

  private waiting(): ApprovalRowView[] {
    return this.data.rows.filter((row) => row.state === 'pending' || row.state === 'executing');
  }

  card(id: string): ApprovalView {
    const card = this.data.approvals.find((one) => one.id === id);
    if (!card) return refuse('approval_not_found', 'no such approval', id);
    card.waiting = this.waiting().map((row) => row.id);
    return card;
  }

  task(id: string): TaskDetailView {
    return this.data.tasks.find((one) => one.task.id === id) ?? refuse('task_not_found', 'no such task', id);
  }

  addWorkspace(id: string, name: string, root: string): WorkspaceView {
    const made: WorkspaceView = { id, name, root, present: true, replaced: false, provider: 'offline', allowed_mcp_servers: [] };
    this.data.app.workspaces = [made, ...this.data.app.workspaces.filter((one) => one.id !== id)];
    return made;
  }

  demo(): WorkspaceView {
    const demo = this.demoWorkspace ?? refuse('workspace_not_found', 'no demo');
    this.data.app.workspaces = [demo, ...this.data.app.workspaces.filter((one) => one.id !== demo.id)];
    return demo;
  }

  /** Starts a task that plays the recorded run of the demo goal. */
  create(workspace: WorkspaceView, goal: string, session: string | null = null): TaskView {
    const source = this.data.tasks.find((one) => one.task.id === 't-sum') ?? refuse('internal', 'no recorded run');
    const id = this.id('t');
    const now = new Date().toISOString();
    const task: TaskView = { ...source.task, id, session: session ?? id, workspace: workspace.id, goal, provider: workspace.provider, status: 'queued', steps: 0, elapsed_millis: 0, created_at: now, updated_at: now, waiting_approval: null, answer: '' };
    const detail: TaskDetailView = { task, events: [], artifacts: [], reach: source.reach, streaming: '' };
    this.data.tasks = [detail, ...this.data.tasks];
    this.record(detail, { type: 'task_created', workspace: workspace.id, channel: 'chat', goal, provider: workspace.provider });
    if (/发票|invoice/i.test(goal)) void this.run(detail, source);
    else void this.explain(detail);
    return task;
  }

  private async run(detail: TaskDetailView, source: TaskDetailView): Promise<void> {
    for (const recorded of source.events.slice(1)) {
      await this.pause(140);
      if (detail.task.status === 'cancelled') return;
      const event = structuredClone(recorded);
      if (event.type === 'model_answer' && event.text !== '') await this.stream(detail, event.text);
      if (event.type === 'approval_requested') {
        this.ask(detail, event.approval);
        continue;
      }
      this.record(detail, event as Event);
    }
  }

  private async explain(detail: TaskDetailView): Promise<void> {
    this.record(detail, { type: 'status_changed', status: 'running', code: null, detail: null });
    // An attack in the goal comes back as the answer, so that tests can see it drawn.
    const hostile = /[<\[!|]/.test(detail.task.goal) ? detail.task.goal : null;
    const text = hostile ?? 'I am the built-in helper. I can sum up invoices and check tables in this folder by fixed steps. For anything else, add a model in Settings.';
    await this.stream(detail, text);
    this.record(detail, { type: 'model_answer', step: 1, text, calls: [], usage: { input: 0, output: 0, estimated: false }, elapsed_millis: 400 });
    this.record(detail, { type: 'status_changed', status: 'completed', code: null, detail: null });
  }

  private async stream(detail: TaskDetailView, text: string): Promise<void> {
    detail.streaming = '';
    for (let at = 0; at < text.length; at += 3) {
      if (detail.task.status === 'cancelled') return;
      const piece = text.slice(at, at + 3);
      detail.streaming += piece;
      this.emit({ type: 'delta', task: detail.task.id, text: piece });
      await this.pause(25);
    }
    detail.streaming = '';
  }

  /** Makes a card for a running task from the recorded one. */
  private ask(detail: TaskDetailView, recorded: string): void {
    const model = structuredClone(this.card(recorded));
    const id = this.id('a');
    const now = new Date().toISOString();
    const workspace = this.data.app.workspaces.find((one) => one.id === detail.task.workspace) ?? model.workspace;
    const card: ApprovalView = { ...model, id, rev: 1, nonce: id, state: 'pending', task: detail.task.id, goal: detail.task.goal, channel: 'chat', asked_at: now, workspace, artifact: null, note: null, stale: false };
    this.data.approvals.push(card);
    const row: ApprovalRowView = { id, task: detail.task.id, goal: detail.task.goal, channel: 'chat', state: 'pending', tool: card.tool, path: card.path, overwrites: card.card.before !== null, flags: card.card.flags.length, asked_at: now, decided_at: null, workspace: workspace.id, stale: false };
    this.data.rows = [...this.waiting(), row, ...this.data.rows.filter((one) => one.state !== 'pending' && one.state !== 'executing')];
    detail.task.waiting_approval = id;
    this.record(detail, { type: 'approval_requested', approval: id, call_id: card.call.id, tool: card.tool, path: card.path, digest: card.fingerprint, content: card.card.after?.digest ?? null });
  }

  cancel(id: string): null {
    const detail = this.task(id);
    for (const row of this.data.rows) if (row.task === id && row.state === 'pending') this.settle(row.id, 'void');
    detail.streaming = '';
    this.record(detail, { type: 'status_changed', status: 'cancelled', code: 'cancelled', detail: null });
    return null;
  }

  again(id: string, files: readonly string[]): TaskView {
    const { task } = this.task(id);
    const workspace = this.data.app.workspaces.find((one) => one.id === task.workspace) ?? refuse('workspace_not_found', 'no such workspace', task.workspace);
    const goal = files.length === 0 ? task.goal : `${task.goal}\n\nUse these files:\n${files.map((file) => `- ${file}`).join('\n')}`;
    return this.create(workspace, goal, task.session);
  }

  deletion(id: string): DeletionView {
    const detail = this.task(id);
    if (!['completed', 'failed', 'cancelled'].includes(detail.task.status)) refuse('task_state', 'only a task that has ended can be deleted', id);
    const cards = this.data.approvals.filter((card) => card.task === id).length;
    return { task: id, goal: detail.task.goal, entries: detail.events.length, cards, kept_versions: detail.artifacts.filter((artifact) => artifact.replaced).length, files: detail.artifacts.map((artifact) => artifact.path) };
  }

  remove(id: string): null {
    this.deletion(id);
    this.data.tasks = this.data.tasks.filter((one) => one.task.id !== id);
    this.data.rows = this.data.rows.filter((row) => row.task !== id);
    this.emit({ type: 'changed' });
    return null;
  }

  resume(id: string): TaskView {
    const detail = this.task(id);
    this.record(detail, { type: 'status_changed', status: 'running', code: null, detail: null });
    return detail.task;
  }

  previewEdit(id: string, given: unknown): ApprovalView {
    const card = this.card(id);
    if (card.state !== 'pending') refuse('approval_decided', 'already decided', id);
    const fields = given as Fields;
    if (card.path !== null) this.checkPath(fields.path);
    const shown = structuredClone(card);
    shown.call = { ...shown.call, arguments: given };
    shown.stale = false;
    shown.fingerprint = `${JSON.stringify(given).length.toString(16).padStart(8, '0')}${card.fingerprint.slice(8)}`;
    shown.nonce = `${card.nonce}-${shown.fingerprint.slice(0, 8)}`;
    if (typeof fields.path === 'string') Object.assign(shown, { path: fields.path, path_shown: fields.path });
    redraw(shown, card, fields);
    return shown;
  }

  private checkPath(path: unknown): void {
    if (typeof path !== 'string' || path === '') refuse('invalid_arguments', 'path is missing', 'path');
    const text = String(path);
    if (text.startsWith('/') || /^[A-Za-z]:/.test(text)) refuse('path_absolute', 'absolute', text);
    if (text.split('/').includes('..')) refuse('path_parent', 'a path may not contain ..', text);
    if (!/\.(md|csv|xlsx)$/.test(text)) refuse('path_extension', 'only md, csv and xlsx', text);
  }

  async approve(request: ApproveRequest): Promise<ApprovalView> {
    const card = this.card(request.id);
    if (this.decidedElsewhere.delete(request.id)) {
      await this.carryOut(card, null);
      refuse('approval_decided', 'already decided', request.id);
    }
    if (card.state !== 'pending') refuse(card.state === 'replaced' ? 'approval_stale' : 'approval_decided', 'not pending', request.id);
    if (this.stale.delete(request.id)) refuse('approval_stale', 'the target changed', this.replace(card));
    await this.carryOut(card, request.arguments);
    return this.card(request.id);
  }

  private async carryOut(card: ApprovalView, edited: unknown): Promise<void> {
    const detail = this.task(card.task);
    if (edited !== null && edited !== undefined) Object.assign(card, this.previewEdit(card.id, edited));
    this.settle(card.id, 'executing');
    this.record(detail, { type: 'approval_decided', approval: card.id, decision: edited ? 'approve_edited' : 'approve', note: null, edited: edited ? card.call : null, by: 'window' });
    await this.pause(200);
    const path = card.path;
    if (path !== null && card.card.after) {
      const artifact: ArtifactView = { id: this.id('art'), task: card.task, workspace: card.workspace.id, path, size: card.card.after.size, digest: card.card.after.digest, at: new Date().toISOString(), undo: 'possible', replaced: card.card.before !== null };
      detail.artifacts.push(artifact);
      card.artifact = artifact;
    }
    this.settle(card.id, 'done');
    this.record(detail, { type: 'execution_finished', approval: card.id, operation: this.id('op'), outcome: 'done', code: null, before: card.card.before?.digest ?? null, after: card.card.after?.digest ?? null });
    if (card.artifact) this.record(detail, { type: 'artifact_written', artifact: card.artifact.id, path: card.artifact.path, size: card.artifact.size, digest: card.artifact.digest });
    this.record(detail, { type: 'tool_result', call_id: card.call.id, tool: card.tool, ok: true, code: null, content: 'done', millis: 6 });
    void this.close(detail, card.card.numbers.figures.length > 0 ? `报告写在「${path ?? ''}」。` : 'Done, once, as you approved.');
  }

  reject(id: string, note: string | null): ApprovalView {
    const card = this.card(id);
    if (card.state !== 'pending') refuse('approval_decided', 'already decided', id);
    const detail = this.task(card.task);
    card.note = note;
    this.settle(id, 'rejected');
    this.record(detail, { type: 'approval_decided', approval: id, decision: 'reject', note, edited: null, by: 'window' });
    this.record(detail, { type: 'tool_result', call_id: card.call.id, tool: card.tool, ok: false, code: 'approval_rejected', content: 'The person rejected this call. Nothing was written.', millis: 0 });
    void this.close(detail, 'You said no, so nothing was written.');
    return card;
  }

  private async close(detail: TaskDetailView, text: string): Promise<void> {
    this.record(detail, { type: 'status_changed', status: 'running', code: null, detail: null });
    await this.pause(200);
    await this.stream(detail, text);
    this.record(detail, { type: 'model_answer', step: detail.task.steps + 1, text, calls: [], usage: { input: 0, output: 0, estimated: false }, elapsed_millis: detail.task.elapsed_millis + 300 });
    this.record(detail, { type: 'status_changed', status: 'completed', code: null, detail: null });
  }

  /** Voids a card and puts a new one in its place; gives the new id. */
  private replace(card: ApprovalView): string {
    const made = structuredClone(card);
    made.id = this.id('a');
    Object.assign(made, { replaces: card.id, nonce: made.id, stale: false, asked_at: new Date().toISOString() });
    card.replaced_by = made.id;
    this.data.approvals.push(made);
    const row = this.data.rows.find((one) => one.id === card.id);
    if (row) this.data.rows = [{ ...row, id: made.id, asked_at: made.asked_at }, ...this.data.rows];
    this.settle(card.id, 'replaced');
    const detail = this.task(card.task);
    detail.task.waiting_approval = made.id;
    this.record(detail, { type: 'approval_replaced', old: card.id, new: made.id });
    return made.id;
  }

  undo(artifact: ArtifactView): ArtifactView {
    if (artifact.undo !== 'possible') refuse(artifact.undo === 'changed' ? 'undo_changed' : 'undo_missing', 'cannot be undone', artifact.path);
    artifact.undo = 'undone';
    for (const card of this.data.approvals) if (card.artifact?.id === artifact.id) card.artifact.undo = 'undone';
    this.record(this.task(artifact.task), { type: 'undone', artifact: artifact.id, path: artifact.path, removed: !artifact.replaced });
    return artifact;
  }

  private settle(id: string, state: ApprovalView['state']): void {
    const card = this.card(id);
    card.state = state;
    const row = this.data.rows.find((one) => one.id === id);
    if (row) Object.assign(row, { state, decided_at: state === 'executing' ? null : new Date().toISOString() });
  }

  /** Stores an event and tells it, as the core does. */
  private record(detail: TaskDetailView, event: Event): void {
    this.position += 1;
    const at = new Date().toISOString();
    const record = { ...event, position: this.position, seq: (detail.events.at(-1)?.seq ?? 0) + 1, at, task: detail.task.id, source: 'agent' as const };
    detail.events.push(record);
    detail.task.updated_at = at;
    if (event.type === 'status_changed') Object.assign(detail.task, { status: event.status satisfies TaskStatus, code: event.code });
    if (event.type === 'model_answer') Object.assign(detail.task, { steps: event.step, elapsed_millis: event.elapsed_millis, ...(event.calls.length === 0 ? { answer: event.text } : {}) });
    this.data.app.log_entries += 1;
    this.emit({ type: 'recorded', record });
  }

  private id(kind: string): string {
    this.ids += 1;
    return `${kind}-new-${this.ids}`;
  }

  private pause(millis: number): Promise<void> {
    return new Promise((done) => setTimeout(done, millis * Number(this.query.get('speed') ?? '1')));
  }
}

/** Draws the card of an edit, roughly as the core would. */
function redraw(shown: ApprovalView, card: ApprovalView, fields: Fields): void {
  const difference = card.card.difference;
  if (typeof fields.content === 'string' && difference.kind === 'text') {
    const old = difference.lines.filter((line) => line.old !== null).map((line) => line.spans.map((span) => span.text).join('')).join('\n');
    const before = card.card.before ? `${old}\n` : null;
    const made = textDifference(before, fields.mode === 'append' ? `${before ?? ''}${fields.content}` : fields.content);
    Object.assign(shown.card, { difference: { kind: 'text', lines: made.lines }, changes: made.changes, must_see: card.card.weight === 'heavy' ? made.mustSee : [] });
    const figures = card.card.numbers.figures.filter((figure) => String(fields.content).split('\n')[Number(figure.place) - 1]?.includes(figure.text));
    const count = (verdict: string) => figures.filter((figure) => figure.verdict.verdict === verdict && !figure.kept).length;
    shown.card.numbers = { figures, known: count('known'), derived: count('derived'), differs: count('differs'), unsourced: count('unsourced') };
    if (shown.card.after) shown.card.after = { ...shown.card.after, size: new TextEncoder().encode(fields.content).length };
  }
  if (difference.kind === 'cells' && Array.isArray(fields.sheets)) {
    const sheets = (fields.sheets as { name: string; rows: string[][] }[]).map((sheet) => {
      const known = difference.sheets.find((one) => one.name === sheet.name);
      const old = (known?.rows ?? []).filter((row) => row.old !== null).map((row) => row.cells.map((cell) => (cell.old ?? (row.kind === 'added' ? [] : (cell.new ?? []))).map((span) => span.text).join('')));
      return tableDifference(sheet.name, old, sheet.rows.map((row) => row.map(String)), 2);
    });
    Object.assign(shown.card, { difference: { kind: 'cells', sheets: sheets.map((one) => one.table) }, changes: sheets.at(-1)?.changes ?? 0, must_see: sheets.flatMap((one) => one.mustSee) });
  }
  if (typeof fields.content === 'string' && difference.kind === 'rows') {
    const old = difference.table.rows.filter((row) => row.old !== null).map((row) => row.cells.map((cell) => (cell.old ?? cell.new ?? []).map((span) => span.text).join('')));
    const made = tableDifference(null, old, csvRows(fields.content), 0);
    Object.assign(shown.card, { difference: { ...difference, table: made.table }, changes: made.changes, must_see: made.mustSee });
  }
}
