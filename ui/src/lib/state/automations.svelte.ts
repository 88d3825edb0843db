/** Schedules and the webhook. Fetched once they are looked at, and again when something changed. */
import { errorView, type Backend } from '../api/client';
import type { AutomationsView } from '../api/generated/AutomationsView';
import type { ErrorView } from '../api/generated/ErrorView';
import { Coalesced } from './coalesced';

export class AutomationsState {
  view = $state.raw<AutomationsView | null>(null);
  failure = $state.raw<ErrorView | null>(null);
  private readonly refresh: Coalesced;
  private wanted = false;

  constructor(private readonly api: Backend) {
    this.refresh = new Coalesced(() => this.load(), 150);
  }

  async load(): Promise<void> {
    this.wanted = true;
    try {
      this.view = await this.api.call('automation_state');
      this.failure = null;
    } catch (thrown) {
      this.failure = errorView(thrown);
    }
  }

  /** Fetches again soon, if anybody ever looked. */
  touch(): void {
    if (this.wanted) this.refresh.ask();
  }

  async pauseAll(paused: boolean): Promise<void> {
    this.view = await this.api.call('automations_pause', { paused });
  }
}
