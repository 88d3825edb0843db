/** Short messages of the window: spoken ones, and refused actions. Never for approvals. */
import { errorView } from '../api/client';
import type { ErrorView } from '../api/generated/ErrorView';

const STAYS = 6000;

export type Notice = { id: number; text: string | null; error: ErrorView | null };

export class NoticesState {
  list = $state.raw<Notice[]>([]);
  /** Read out politely, not shown. */
  spoken = $state('');
  private next = 0;

  say(text: string): void {
    // The same words twice must be a change, or they are not read out.
    this.spoken = this.spoken === text ? `${text}\u00a0` : text;
  }

  show(text: string): void {
    const id = this.add({ text, error: null });
    setTimeout(() => this.dismiss(id), STAYS);
  }

  /** Shows an error until it is dismissed. */
  fail(thrown: unknown): void {
    this.add({ text: null, error: errorView(thrown) });
  }

  dismiss(id: number): void {
    this.list = this.list.filter((notice) => notice.id !== id);
  }

  private add(notice: Omit<Notice, 'id'>): number {
    this.next += 1;
    this.list = [...this.list.slice(-3), { id: this.next, ...notice }];
    return this.next;
  }
}
