/** Memory and skills of the workspace: what stands there, what the person is writing, and how both follow the disk. */
import { errorView, type Backend } from '../api/client';
import type { ErrorView } from '../api/generated/ErrorView';
import type { InjectionView } from '../api/generated/InjectionView';
import type { MemoryView } from '../api/generated/MemoryView';
import type { SkillTextView } from '../api/generated/SkillTextView';
import type { SkillView } from '../api/generated/SkillView';
import { Coalesced } from './coalesced';
import { Draft } from './draft.svelte';

export const MAIN_PAGE = 'memory/MEMORY.md';
export const NEW_SKILL = '---\nname: \ndescription: \n---\n';

export class MemoryState {
  view = $state.raw<MemoryView | null>(null);
  failure = $state.raw<ErrorView | null>(null);
  saveFailure = $state.raw<ErrorView | null>(null);
  saving = $state(false);
  /** What a task would be given of the draft. */
  measured = $state.raw<InjectionView | null>(null);
  readonly draft = new Draft();
  /** The page changed under the draft. */
  readonly conflict = $derived(this.draft.active && this.view !== null && this.view.digest !== this.draft.base);
  readonly injection = $derived(this.draft.active ? (this.measured ?? this.view?.injection ?? null) : (this.view?.injection ?? null));

  private workspace: string | null = null;
  private path = MAIN_PAGE;
  private asked = 0;
  private readonly measure: Coalesced;
  private readonly refresh: Coalesced;

  constructor(private readonly api: Backend) {
    this.measure = new Coalesced(() => this.preview(), 250);
    this.refresh = new Coalesced(() => this.load(), 100);
  }

  async use(workspace: string, path: string): Promise<void> {
    const same = this.workspace === workspace && this.path === path;
    if (!same) {
      this.workspace = workspace;
      this.path = path;
      this.view = null;
      this.draft.leave();
      this.saveFailure = null;
    }
    await this.load();
    // A draft that was left, or cut off by a reload, is there again.
    if (!this.draft.active && this.view && Draft.has(this.key)) this.edit();
  }

  private get key(): string {
    return `pilot.draft.memory.${this.workspace ?? ''}/${this.path}`;
  }

  async load(): Promise<void> {
    const { workspace, path } = this;
    if (workspace === null) return;
    this.asked += 1;
    const mine = this.asked;
    try {
      const view = await this.api.call('memory_get', { workspace, path });
      if (mine !== this.asked) return;
      this.view = view;
      this.failure = null;
    } catch (thrown) {
      if (mine === this.asked) this.failure = errorView(thrown);
    }
  }

  /** Something on the disk changed; looks again if it may be memory. */
  changed(workspace: string, paths: readonly string[], everything: boolean): void {
    if (workspace !== this.workspace) return;
    if (everything || paths.some((path) => path === 'memory' || path.startsWith('memory/'))) this.refresh.ask();
  }

  edit(): void {
    if (!this.view) return;
    this.draft.begin(this.key, this.view.text, this.view.digest);
    this.measured = null;
    this.measure.ask();
  }

  write(text: string): void {
    this.draft.write(text);
    this.measure.ask();
  }

  private async preview(): Promise<void> {
    const { workspace, path } = this;
    if (workspace === null || !this.draft.active) return;
    try {
      this.measured = await this.api.call('memory_preview', { workspace, path, text: this.draft.text });
    } catch {
      // The meter shows the saved page then; saving says what is wrong.
      this.measured = null;
    }
  }

  /** Saves the draft; true when it stands there now. */
  async save(): Promise<boolean> {
    const { workspace, path, draft } = this;
    if (workspace === null || this.saving) return false;
    this.saving = true;
    this.saveFailure = null;
    try {
      this.view = await this.api.call('memory_save', { workspace, path, text: draft.text, base: draft.base });
      draft.end();
      this.measured = null;
      return true;
    } catch (thrown) {
      this.saveFailure = errorView(thrown);
      if (this.saveFailure.code === 'edit_conflict') await this.load();
      return false;
    } finally {
      this.saving = false;
    }
  }

  /** Throws the draft away. */
  discard(): void {
    this.draft.end();
    this.measured = null;
    this.saveFailure = null;
  }
}

export class SkillsState {
  list = $state.raw<SkillView[] | null>(null);
  failure = $state.raw<ErrorView | null>(null);
  shown = $state.raw<SkillTextView | null>(null);
  shownFailure = $state.raw<ErrorView | null>(null);
  saveFailure = $state.raw<ErrorView | null>(null);
  saving = $state(false);
  /** True while the draft is a new skill. */
  making = $state(false);
  readonly draft = new Draft();
  readonly conflict = $derived(this.draft.active && !this.making && this.shown !== null && this.shown.digest !== this.draft.base);

  private workspace: string | null = null;
  private id = '';
  private asked = 0;
  private readonly refresh: Coalesced;

  constructor(private readonly api: Backend) {
    this.refresh = new Coalesced(() => this.load(), 100);
  }

  /** Shows a skill by its id; empty for the list alone. */
  async use(workspace: string, id: string): Promise<void> {
    const same = this.workspace === workspace && this.id === id;
    if (this.workspace !== workspace) this.list = null;
    if (!same) {
      this.workspace = workspace;
      this.id = id;
      this.shown = null;
      this.shownFailure = null;
      this.saveFailure = null;
      this.draft.leave();
      this.making = false;
    }
    await this.load();
    if (!this.draft.active && this.shown?.skill.editable && Draft.has(this.key)) this.edit();
  }

  private get key(): string {
    return `pilot.draft.skill.${this.workspace ?? ''}/${this.making ? 'new' : this.id}`;
  }

  get draftKept(): boolean {
    return Draft.has(`pilot.draft.skill.${this.workspace ?? ''}/new`);
  }

  async load(): Promise<void> {
    const { workspace, id } = this;
    if (workspace === null) return;
    this.asked += 1;
    const mine = this.asked;
    try {
      const list = await this.api.call('skill_list', { workspace });
      if (mine !== this.asked) return;
      this.list = list;
      this.failure = null;
      const row = list.find((one) => one.id === id);
      if (!row) {
        if (!this.draft.active) this.shown = null;
        return;
      }
      const shown = await this.api.call('skill_get', { workspace, source: row.source, folder: row.folder });
      if (mine !== this.asked) return;
      this.shown = shown;
      this.shownFailure = null;
    } catch (thrown) {
      if (mine !== this.asked) return;
      if (this.list === null) this.failure = errorView(thrown);
      else this.shownFailure = errorView(thrown);
    }
  }

  changed(workspace: string, paths: readonly string[], everything: boolean): void {
    if (workspace !== this.workspace) return;
    if (everything || paths.some((path) => path === 'skills' || path.startsWith('skills/'))) this.refresh.ask();
  }

  edit(): void {
    if (!this.shown) return;
    this.making = false;
    this.draft.begin(this.key, this.shown.text, this.shown.digest);
  }

  make(): void {
    this.making = true;
    this.saveFailure = null;
    this.draft.begin(this.key, NEW_SKILL, null);
  }

  /** Saves the draft; the id of the skill when it stands there now. */
  async save(): Promise<string | null> {
    const { workspace, draft } = this;
    if (workspace === null || this.saving) return null;
    this.saving = true;
    this.saveFailure = null;
    try {
      const folder = this.making ? null : (this.shown?.skill.folder ?? null);
      const saved = await this.api.call('skill_save', { workspace, folder, text: draft.text, base: draft.base });
      draft.end();
      this.making = false;
      this.shown = saved;
      this.id = saved.skill.id;
      await this.load();
      return saved.skill.id;
    } catch (thrown) {
      this.saveFailure = errorView(thrown);
      if (this.saveFailure.code === 'edit_conflict') await this.load();
      return null;
    } finally {
      this.saving = false;
    }
  }

  discard(): void {
    this.draft.end();
    this.making = false;
    this.saveFailure = null;
  }

  /** Removes the skill that is shown; the id by which that is taken back. */
  async remove(): Promise<string | null> {
    const { workspace, shown } = this;
    if (workspace === null || !shown) return null;
    const id = await this.api.call('skill_remove', { workspace, folder: shown.skill.folder, base: shown.digest });
    this.discard();
    this.shown = null;
    this.id = '';
    await this.load();
    return id;
  }
}
