/** Turns the record of a task into the steps that a person follows. Pure: events in, steps out. */
import type { Analysis } from '../../lib/api/generated/Analysis';
import type { ErrorCode } from '../../lib/api/generated/ErrorCode';
import type { EventRecord } from '../../lib/api/generated/EventRecord';
import type { ExecutionOutcome } from '../../lib/api/generated/ExecutionOutcome';
import type { TaskStatus } from '../../lib/api/generated/TaskStatus';

export type CallState = 'queued' | 'running' | 'done' | 'failed' | 'refused' | 'waiting' | 'rejected' | 'written' | 'unknown' | 'not_run';

/** One call of a tool, from asking to its end. */
export type CallStep = {
  kind: 'call';
  key: string;
  tool: string;
  arguments: unknown;
  state: CallState;
  /** Declared capability, once the call has begun. */
  capability: string | null;
  /** Why policy or guard stopped it, or why it failed. */
  code: ErrorCode | null;
  /** What the tool answered, as the model got it. */
  content: string | null;
  millis: number | null;
  /** Card that it waited at. */
  approval: string | null;
  /** Target of a write. */
  path: string | null;
  edited: boolean;
  note: string | null;
  /** Written bytes, once read back. */
  size: number | null;
};
/** Several calls of one reading tool in a row. */
export type GroupStep = { kind: 'group'; key: string; tool: string; calls: CallStep[] };
/** Words of the model. */
export type WordsStep = { kind: 'words'; key: string; text: string };
/** Something that changed no state, a stop, or an undo. */
export type NoteStep = { kind: 'note'; key: string; code: ErrorCode | null; detail: string };
export type UndoneStep = { kind: 'undone'; key: string; path: string; removed: boolean };
export type StopStep = { kind: 'stop'; key: string; status: TaskStatus; code: ErrorCode | null };
export type Step = CallStep | GroupStep | WordsStep | NoteStep | UndoneStep | StopStep;

/** What the person can count at the end. */
export type Receipt = {
  reads: number;
  asked: number;
  edited: number;
  approved: number;
  rejected: number;
  written: number;
  refused: number;
};

/** The steps in order; neighbouring calls of one reading tool are one group. */
export function steps(events: readonly EventRecord[]): Step[] {
  const builder = new Builder();
  for (const event of events) builder.take(event);
  return groups(builder.finish());
}

class Builder {
  private readonly out: Exclude<Step, GroupStep>[] = [];
  private readonly byCall = new Map<string, CallStep>();
  private readonly byApproval = new Map<string, CallStep>();
  private final = false;

  take(event: EventRecord): void {
    switch (event.type) {
      case 'task_created':
      case 'prompted':
      case 'operator_acted':
        break;
      case 'model_answer':
        if (event.text.trim() !== '') this.out.push({ kind: 'words', key: `w${event.seq}`, text: event.text });
        for (const call of event.calls) this.call(call.id, call.tool).arguments = call.arguments;
        break;
      case 'tool_started':
        Object.assign(this.call(event.call_id, event.tool), { state: 'running', capability: event.capability });
        break;
      case 'tool_result':
        this.result(event.call_id, event.tool, event.ok, event.code, event.content, event.millis);
        break;
      case 'policy_denied':
        Object.assign(this.call(event.call_id, event.tool), { state: 'refused', code: event.code });
        break;
      case 'approval_requested': {
        const step = this.call(event.call_id, event.tool);
        Object.assign(step, { state: 'waiting', approval: event.approval, path: event.path });
        this.byApproval.set(event.approval, step);
        break;
      }
      case 'approval_replaced': {
        const step = this.byApproval.get(event.old);
        if (step) {
          Object.assign(step, { approval: event.new, state: 'waiting' });
          this.byApproval.set(event.new, step);
        }
        break;
      }
      case 'approval_decided': {
        const step = this.byApproval.get(event.approval);
        if (step) Object.assign(step, { state: event.decision === 'reject' ? 'rejected' : 'running', note: event.note, edited: event.edited !== null });
        break;
      }
      case 'execution_finished':
        this.executed(event.approval, event.outcome, event.code);
        break;
      case 'artifact_written': {
        const step = this.out.findLast((item): item is CallStep => item.kind === 'call' && item.approval !== null);
        if (step) Object.assign(step, { size: event.size, path: event.path });
        break;
      }
      case 'undone':
        this.out.push({ kind: 'undone', key: `u${event.seq}`, path: event.path, removed: event.removed });
        break;
      case 'noted':
        this.out.push({ kind: 'note', key: `n${event.seq}`, code: event.code, detail: event.detail });
        break;
      case 'status_changed':
        this.final = event.status === 'completed' || event.status === 'failed' || event.status === 'cancelled';
        if (event.status === 'failed' || event.status === 'cancelled' || event.status === 'interrupted') {
          this.out.push({ kind: 'stop', key: `s${event.seq}`, status: event.status, code: event.code });
        }
        break;
    }
  }

  finish(): Exclude<Step, GroupStep>[] {
    if (this.final) {
      for (const step of this.byCall.values()) {
        if (step.state === 'queued' || step.state === 'running' || step.state === 'waiting') step.state = 'not_run';
      }
    }
    return this.out;
  }

  private call(id: string, tool: string): CallStep {
    const known = this.byCall.get(id);
    if (known) return known;
    const step: CallStep = {
      kind: 'call', key: `c${id}`, tool, arguments: {}, state: 'queued', capability: null, code: null, content: null, millis: null,
      approval: null, path: null, edited: false, note: null, size: null,
    };
    this.byCall.set(id, step);
    this.out.push(step);
    return step;
  }

  private result(id: string, tool: string, ok: boolean, code: ErrorCode | null, content: string, millis: number): void {
    const step = this.call(id, tool);
    step.content = content;
    step.millis = millis;
    if (code !== null) step.code = code;
    if (step.state === 'refused' || step.state === 'rejected' || step.state === 'written' || step.state === 'unknown') return;
    if (ok) step.state = step.approval === null ? 'done' : 'written';
    else step.state = code === 'policy_denied' ? 'refused' : code === 'approval_rejected' ? 'rejected' : 'failed';
  }

  private executed(approval: string, outcome: ExecutionOutcome, code: ErrorCode | null): void {
    const step = this.byApproval.get(approval);
    if (!step) return;
    step.code = code ?? step.code;
    const state: Record<ExecutionOutcome, CallState> = { done: 'written', failed: 'failed', unknown: 'unknown' };
    step.state = state[outcome];
  }
}

function groups(flat: Exclude<Step, GroupStep>[]): Step[] {
  const out: Step[] = [];
  for (const step of flat) {
    const last = out.at(-1);
    if (step.kind === 'call' && last && step.approval === null && groupable(step)) {
      if (last.kind === 'group' && last.tool === step.tool) {
        last.calls.push(step);
        continue;
      }
      if (last.kind === 'call' && last.tool === step.tool && last.approval === null && groupable(last)) {
        out[out.length - 1] = { kind: 'group', key: `g${last.key}`, tool: step.tool, calls: [last, step] };
        continue;
      }
    }
    out.push(step);
  }
  return out;
}

/** A refused or computing step stands alone, so that it is never folded away. */
function groupable(step: CallStep): boolean {
  return step.state !== 'refused' && step.tool !== 'analyze_table';
}

/** The path that a call is about, for its title. */
export function subjectOf(step: CallStep): string | null {
  if (step.path !== null) return step.path;
  const given = step.arguments;
  if (typeof given !== 'object' || given === null) return null;
  for (const name of ['path', 'paths', 'name']) {
    const value = (given as Record<string, unknown>)[name];
    if (typeof value === 'string') return value === '.' || value === '' ? null : value;
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ');
  }
  return null;
}

/** The figures of an `analyze_table` result; `null` when the content is anything else. */
export function analysisOf(content: string | null): Analysis | null {
  if (content === null || !content.trimStart().startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(content);
    return isAnalysis(value) ? value : null;
  } catch {
    return null;
  }
}

function isAnalysis(value: unknown): value is Analysis {
  if (typeof value !== 'object' || value === null) return false;
  const has = value as Record<string, unknown>;
  return typeof has.rows === 'number' && typeof has.totals === 'object' && has.totals !== null && Array.isArray(has.by_supplier) && Array.isArray(has.outliers);
}

/** The last analysis of a task, which its result is drawn from. */
export function lastAnalysis(all: readonly Step[]): Analysis | null {
  for (let index = all.length - 1; index >= 0; index -= 1) {
    const step = all[index];
    if (step?.kind === 'call' && step.tool === 'analyze_table' && step.state === 'done') {
      const found = analysisOf(step.content);
      if (found) return found;
    }
  }
  return null;
}

/** The model's last words: the answer of an ended task. */
export function answerOf(all: readonly Step[]): string {
  const last = all.findLast((step) => step.kind === 'words' || step.kind === 'call' || step.kind === 'group');
  return last?.kind === 'words' ? last.text : '';
}

/** Counts for the receipt. */
export function receipt(all: readonly Step[]): Receipt {
  const calls = all.flatMap((step) => (step.kind === 'call' ? [step] : step.kind === 'group' ? step.calls : []));
  const asked = calls.filter((call) => call.approval !== null);
  return {
    reads: calls.filter((call) => call.approval === null && call.state === 'done').length,
    asked: asked.length,
    edited: asked.filter((call) => call.edited).length,
    approved: asked.filter((call) => call.state === 'written' || call.state === 'unknown').length,
    rejected: asked.filter((call) => call.state === 'rejected').length,
    written: asked.filter((call) => call.state === 'written').length,
    refused: calls.filter((call) => call.state === 'refused').length,
  };
}
