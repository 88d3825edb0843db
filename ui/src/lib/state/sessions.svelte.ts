/** The conversations: the list as it is filtered, and the one whose task is open. */
import { errorView, type Backend } from '../api/client';
import type { ErrorView } from '../api/generated/ErrorView';
import type { SessionDetailView } from '../api/generated/SessionDetailView';
import type { SessionView } from '../api/generated/SessionView';
import { Coalesced } from './coalesced';

export class SessionsState {
  list = $state.raw<SessionView[] | null>(null);
  failure = $state.raw<ErrorView | null>(null);
  /** Conversation of the open task. */
  detail = $state.raw<SessionDetailView | null>(null);
  /** Those that were put away, instead of the others. */
  archived = $state(false);
  /** A text of the title or of a goal. */
  search = $state('');

  private workspace: string | null = null;
  private open: string | null = null;
  private asked = 0;
  private readonly refreshList: Coalesced;
  private readonly refreshOpen: Coalesced;

  constructor(private readonly api: Backend) {
    this.refreshList = new Coalesced(() => this.load(), 100);
    this.refreshOpen = new Coalesced(() => this.fetch(), 100);
  }

  /** Lists the conversations of a workspace by the filter. An answer that is overtaken by a newer question is dropped. */
  async load(): Promise<void> {
    if (this.workspace === null) return;
    const ask = ++this.asked;
    try {
      const list = await this.api.call('session_list', { workspace: this.workspace, archived: this.archived, search: this.search.trim() === '' ? null : this.search });
      if (ask !== this.asked) return;
      this.list = list;
      this.failure = null;
    } catch (thrown) {
      if (ask === this.asked) this.failure = errorView(thrown);
    }
  }

  /** Chooses whose conversations are listed, and how. */
  async show(workspace: string | null, archived: boolean, search: string): Promise<void> {
    if (workspace !== this.workspace) this.list = null;
    this.workspace = workspace;
    this.archived = archived;
    this.search = search;
    await this.load();
  }

  /** Opens the conversation of a task; `null` closes. */
  async follow(id: string | null): Promise<void> {
    if (this.open === id) return;
    this.open = id;
    if (this.detail?.session.id !== id) this.detail = null;
    if (id !== null) await this.fetch();
  }

  /** Fetches everything that is shown again. */
  touch(): void {
    this.refreshList.ask();
    if (this.open !== null) this.refreshOpen.ask();
  }

  async rename(id: string, title: string): Promise<void> {
    await this.api.call('session_rename', { id, title });
    this.touch();
  }

  async archive(id: string, archived: boolean): Promise<void> {
    await this.api.call('session_archive', { id, archived });
    this.touch();
  }

  private async fetch(): Promise<void> {
    const id = this.open;
    if (id === null) return;
    try {
      const detail = await this.api.call('session_get', { id });
      if (this.open === id) this.detail = detail;
    } catch {
      // A conversation that went with its last task: the task itself says that it is gone.
      if (this.open === id) this.detail = null;
    }
  }
}
