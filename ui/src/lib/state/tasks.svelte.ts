/** The tasks: the list, and the one that is open with its record as it grows. */
import { errorView, type Backend } from '../api/client';
import type { ErrorView } from '../api/generated/ErrorView';
import type { EventRecord } from '../api/generated/EventRecord';
import type { TaskDetailView } from '../api/generated/TaskDetailView';
import type { TaskView } from '../api/generated/TaskView';
import { Coalesced } from './coalesced';

export class TasksState {
  list = $state.raw<TaskView[] | null>(null);
  failure = $state.raw<ErrorView | null>(null);
  /** The open task. Events are appended as they are recorded; a gap makes a new fetch. */
  detail = $state.raw<TaskDetailView | null>(null);
  detailFailure = $state.raw<ErrorView | null>(null);
  /** Words that stream now. */
  streaming = $state('');
  readonly running = $derived((this.list ?? []).filter((task) => task.status === 'running' || task.status === 'queued').length);

  private open: string | null = null;
  private pending = '';
  private frame: number | null = null;
  private readonly refreshList: Coalesced;
  private readonly refreshOpen: Coalesced;

  constructor(private readonly api: Backend) {
    this.refreshList = new Coalesced(() => this.load(), 80);
    this.refreshOpen = new Coalesced(() => this.fetch());
  }

  async load(): Promise<void> {
    try {
      this.list = await this.api.call('task_list', { workspace: null });
      this.failure = null;
    } catch (thrown) {
      this.failure = errorView(thrown);
    }
  }

  /** Opens a task; `null` closes. */
  async show(id: string | null): Promise<void> {
    if (this.open === id) return;
    this.open = id;
    this.detail = null;
    this.detailFailure = null;
    this.clearStream();
    if (id !== null) await this.fetch();
  }

  /** Takes a stored event. */
  recorded(record: EventRecord): void {
    if (record.task === null) return;
    this.refreshList.ask();
    if (record.task !== this.open || !this.detail) return;
    const last = this.detail.events.at(-1)?.seq ?? 0;
    if (record.seq <= last) return;
    if (record.seq > last + 1) {
      this.refreshOpen.ask();
      return;
    }
    if (record.type === 'model_answer') this.clearStream();
    this.detail = { ...this.detail, task: advance(this.detail.task, record), events: [...this.detail.events, record] };
    if (touchesMore(record)) this.refreshOpen.ask();
  }

  /** Takes a piece of streaming text; drawn at most once a frame, however many come. */
  delta(task: string, text: string): void {
    if (task !== this.open) return;
    this.pending += text;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.streaming += this.pending;
      this.pending = '';
    });
  }

  /** Fetches everything that is shown again. */
  touch(): void {
    this.refreshList.ask();
    if (this.open !== null) this.refreshOpen.ask();
  }

  private async fetch(): Promise<void> {
    const id = this.open;
    if (id === null) return;
    try {
      const detail = await this.api.call('task_get', { id });
      if (this.open !== id) return;
      this.detail = detail;
      this.detailFailure = null;
      if (this.frame === null) this.streaming = detail.streaming;
    } catch (thrown) {
      if (this.open === id) this.detailFailure = errorView(thrown);
    }
  }

  private clearStream(): void {
    if (this.frame !== null) cancelAnimationFrame(this.frame);
    this.frame = null;
    this.pending = '';
    this.streaming = '';
  }
}

/** What an event says about the task itself, until the next fetch. */
function advance(task: TaskView, record: EventRecord): TaskView {
  const next = { ...task, updated_at: record.at };
  if (record.type === 'status_changed') return { ...next, status: record.status, code: record.code };
  if (record.type === 'model_answer') {
    const usage = { input: task.usage.input + record.usage.input, output: task.usage.output + record.usage.output, estimated: task.usage.estimated || record.usage.estimated };
    return { ...next, steps: record.step, elapsed_millis: record.elapsed_millis, usage };
  }
  if (record.type === 'approval_requested') return { ...next, waiting_approval: record.approval };
  return next;
}

/** Events after which artifacts, cards or the whole state must be fetched. */
function touchesMore(record: EventRecord): boolean {
  return ['status_changed', 'approval_requested', 'approval_replaced', 'approval_decided', 'execution_finished', 'artifact_written', 'undone'].includes(record.type);
}
