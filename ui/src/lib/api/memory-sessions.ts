/** Conversations of the recordings, put together from the tasks as the core puts them together. */
import { PilotError } from './client';
import type { SessionDetailView } from './generated/SessionDetailView';
import type { SessionListRequest } from './generated/SessionListRequest';
import type { SessionView } from './generated/SessionView';
import type { TaskView } from './generated/TaskView';
import type { Recording } from './memory';

export class Conversations {
  private readonly titles = new Map<string, string>();
  private readonly away = new Set<string>();

  constructor(private readonly data: Recording) {}

  list({ workspace, archived, search }: SessionListRequest): SessionView[] {
    const wanted = search?.toLowerCase() ?? '';
    const ids = [...new Set(this.data.tasks.map((one) => one.task.session))];
    return ids
      .map((id) => this.get(id))
      .filter(({ session }) => (workspace === null || session.workspace === workspace) && session.archived === archived)
      .filter(({ session, turns }) => [session.title, ...turns.map((turn) => turn.goal)].some((text) => text.toLowerCase().includes(wanted)))
      .map(({ session }) => session)
      .sort((one, other) => Number(other.waiting > 0) - Number(one.waiting > 0) || other.used_at.localeCompare(one.used_at));
  }

  get(id: string): SessionDetailView {
    const turns = this.data.tasks.map((one) => one.task).filter((task) => task.session === id).sort((one, other) => one.created_at.localeCompare(other.created_at));
    const [first, last] = [turns[0], turns.at(-1)];
    if (!first || !last) throw new PilotError({ code: 'session_not_found', message: 'no such conversation', subject: id });
    return { session: this.view(id, first, last, turns), turns };
  }

  rename(id: string, title: string): SessionView {
    this.titles.set(id, title);
    return this.get(id).session;
  }

  archive(id: string, archived: boolean): SessionView {
    if (archived) this.away.add(id);
    else this.away.delete(id);
    return this.get(id).session;
  }

  private view(id: string, first: TaskView, last: TaskView, turns: readonly TaskView[]): SessionView {
    return {
      id, workspace: first.workspace, title: this.titles.get(id) ?? first.goal.trim().split('\n')[0] ?? '', archived: this.away.has(id), created_at: first.created_at, used_at: last.created_at,
      turns: turns.length, waiting: turns.filter((turn) => turn.status === 'waiting_approval').length, last_task: last.id, status: last.status, channel: last.channel,
    };
  }
}
