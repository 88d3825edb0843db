/** Everything that the window knows, put together, and how events of the core make parts of it stale. */
import { getContext, setContext } from 'svelte';
import type { Backend } from '../api/client';
import type { WindowEvent } from '../api/generated/WindowEvent';
import { t } from '../i18n/index.svelte';
import { AppState } from './app.svelte';
import { AutomationsState } from './automations.svelte';
import { Coalesced } from './coalesced';
import { FilesState } from './files.svelte';
import { InboxState } from './inbox.svelte';
import { NoticesState } from './notices.svelte';
import { MemoryState, SkillsState } from './people.svelte';
import { RouteState } from './route.svelte';
import { SessionsState } from './sessions.svelte';
import { TasksState } from './tasks.svelte';
import { TextSizeState } from './textsize.svelte';
import { UploadState } from './upload.svelte';

export class Pilot {
  readonly app: AppState;
  readonly route = new RouteState();
  readonly inbox: InboxState;
  readonly tasks: TasksState;
  readonly sessions: SessionsState;
  readonly files: FilesState;
  readonly automations: AutomationsState;
  readonly notices = new NoticesState();
  readonly textSize = new TextSizeState();
  readonly memory: MemoryState;
  readonly skills: SkillsState;
  readonly upload: UploadState;
  /** Card that is drawn now; no notification is needed for it. */
  cardOnScreen = $state<string | null>(null);
  /** Task of the last event about a card, and a number that goes up with each: an open card of that task fetches itself again. */
  cardEvent = $state.raw<{ task: string; at: number }>({ task: '', at: 0 });

  private readonly refreshApp: Coalesced;
  private readonly refreshFiles: Coalesced;

  constructor(readonly api: Backend) {
    this.app = new AppState(api);
    this.inbox = new InboxState(api);
    this.tasks = new TasksState(api);
    this.sessions = new SessionsState(api);
    this.files = new FilesState(api);
    this.memory = new MemoryState(api);
    this.skills = new SkillsState(api);
    this.upload = new UploadState(api);
    this.automations = new AutomationsState(api);
    this.refreshApp = new Coalesced(() => this.app.load(), 120);
    this.refreshFiles = new Coalesced(() => this.files.reload(), 200);
  }

  /** Listens first and fetches then, so that nothing falls between. Returns how to stop listening. */
  async start(): Promise<() => void> {
    const stop = await this.api.listen((event) => this.hear(event));
    await this.app.load();
    void this.inbox.load();
    void this.tasks.load();
    return stop;
  }

  private hear(event: WindowEvent): void {
    switch (event.type) {
      case 'recorded':
        this.recorded(event.record);
        break;
      case 'delta':
        this.tasks.delta(event.task, event.text);
        break;
      case 'changed':
        this.refreshApp.ask();
        this.refreshFiles.ask();
        this.inbox.touch();
        this.tasks.touch();
        this.automations.touch();
        this.sessions.touch();
        break;
      case 'open_card':
        this.route.go('inbox', event.approval);
        break;
      case 'files_dragged':
        this.upload.dragged = event.files;
        break;
      case 'files_dropped':
        this.upload.take(event.plan);
        break;
      case 'upload_progress':
        this.upload.told(event.id, event.name, event.done, event.total);
        break;
      case 'files_changed':
        this.diskChanged(event.workspace, event.paths, event.everything);
        break;
      case 'folder_watched':
        if (event.workspace === this.app.workspace?.id) this.files.watch = event.state;
        if (event.state === 'gone') this.refreshApp.ask();
        else this.diskChanged(event.workspace, [], true);
        break;
      case 'card_stale':
        if (event.stale) this.notices.say(t().live.stale);
        this.cardsChanged(event.task);
        break;
    }
  }

  private diskChanged(workspace: string, paths: readonly string[], everything: boolean): void {
    void this.files.diskChanged(workspace, paths, everything);
    this.memory.changed(workspace, paths, everything);
    this.skills.changed(workspace, paths, everything);
  }

  private recorded(record: Extract<WindowEvent, { type: 'recorded' }>['record']): void {
    this.tasks.recorded(record);
    switch (record.type) {
      case 'approval_requested':
        this.notices.say(t().live.newCard((this.app.view?.waiting ?? 0) + 1));
        this.cardsChanged(record.task);
        break;
      case 'approval_replaced':
      case 'approval_decided':
      case 'execution_finished':
        this.cardsChanged(record.task);
        break;
      case 'status_changed':
        this.automations.touch();
        this.cardsChanged(record.task);
        this.sessions.touch();
        break;
      case 'artifact_written':
      case 'undone':
      case 'operator_acted':
        this.cardsChanged(record.task);
        this.refreshFiles.ask();
        break;
      case 'task_created':
        this.sessions.touch();
        break;
      case 'prompted':
      case 'model_answer':
      case 'tool_started':
      case 'tool_result':
      case 'policy_denied':
      case 'noted':
        break;
    }
  }

  private cardsChanged(task: string | null): void {
    this.inbox.touch();
    this.refreshApp.ask();
    if (task !== null) this.cardEvent = { task, at: this.cardEvent.at + 1 };
  }
}

/** Where the state is found; tests put one there. */
export const KEY = Symbol('pilot');

/** Gives the state to every component below. */
export function providePilot(pilot: Pilot): void {
  setContext(KEY, pilot);
}

/** The state, inside a component. */
export function usePilot(): Pilot {
  return getContext<Pilot>(KEY);
}
