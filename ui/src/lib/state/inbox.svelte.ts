/** The cards that wait and those that were decided. */
import { errorView, type Backend } from '../api/client';
import type { ApprovalRowView } from '../api/generated/ApprovalRowView';
import type { Channel } from '../api/generated/Channel';
import type { ErrorView } from '../api/generated/ErrorView';
import { Coalesced } from './coalesced';

export type Origin = Channel | 'all';

/** Cards of one task within an hour from which on the list says that it asks often. */
const OFTEN = 8;
const HOUR = 3_600_000;

export class InboxState {
  rows = $state.raw<ApprovalRowView[] | null>(null);
  failure = $state.raw<ErrorView | null>(null);
  origin = $state<Origin>('all');
  /** Card that J and K move over; kept when the list changes. */
  selected = $state<string | null>(null);

  readonly waiting = $derived((this.rows ?? []).filter((row) => row.state === 'pending' || row.state === 'executing'));
  readonly decided = $derived((this.rows ?? []).filter((row) => row.state !== 'pending' && row.state !== 'executing'));
  readonly shown = $derived(this.origin === 'all' ? this.waiting : this.waiting.filter((row) => row.channel === this.origin));
  /** Tasks that asked very often of late. */
  readonly often = $derived(tasksAskingOften(this.rows ?? []));

  private readonly refresh: Coalesced;

  constructor(private readonly api: Backend) {
    this.refresh = new Coalesced(() => this.load());
  }

  async load(): Promise<void> {
    try {
      this.rows = await this.api.call('approval_list', { all: true });
      this.failure = null;
    } catch (thrown) {
      this.failure = errorView(thrown);
    }
  }

  /** Fetches again soon; many calls make one fetch. */
  touch(): void {
    this.refresh.ask();
  }

  /** Id of the next (1) or previous (-1) waiting card from the one given; `null` at the end. */
  beside(id: string | null, by: 1 | -1): string | null {
    const list = this.shown;
    const at = list.findIndex((row) => row.id === id);
    if (at < 0) return list[by === 1 ? 0 : list.length - 1]?.id ?? null;
    return list[at + by]?.id ?? null;
  }
}

function tasksAskingOften(rows: readonly ApprovalRowView[]): Set<string> {
  const times = new Map<string, number[]>();
  for (const row of rows) {
    const list = times.get(row.task) ?? [];
    list.push(Date.parse(row.asked_at));
    times.set(row.task, list);
  }
  const out = new Set<string>();
  for (const [task, list] of times) {
    list.sort((a, b) => a - b);
    if (list.some((at, index) => (list[index + OFTEN - 1] ?? Number.POSITIVE_INFINITY) - at <= HOUR)) out.add(task);
  }
  return out;
}
