/** Files that the person adds: asked about where a name is taken, copied, told how far it is, and taken back on wish. */
import { errorView, type Backend } from '../api/client';
import type { EditView } from '../api/generated/EditView';
import type { ErrorView } from '../api/generated/ErrorView';
import type { UploadChoice } from '../api/generated/UploadChoice';
import type { UploadPlanView } from '../api/generated/UploadPlanView';
import type { UploadResultView } from '../api/generated/UploadResultView';

export class UploadState {
  /** How many files are dragged over the window; `null` when none are. */
  dragged = $state<number | null>(null);
  plan = $state.raw<UploadPlanView | null>(null);
  choices = $state<UploadChoice[]>([]);
  running = $state(false);
  stopping = $state(false);
  progress = $state.raw<{ name: string; done: number; total: number } | null>(null);
  result = $state.raw<UploadResultView | null>(null);
  failure = $state.raw<ErrorView | null>(null);

  readonly asking = $derived(this.plan !== null && !this.running && this.result === null);
  /** Files that would be copied as it is answered now. */
  readonly wanted = $derived(this.plan?.files.filter((file, index) => file.refused === null && (!file.collides || this.choices[index] !== 'skip')).length ?? 0);

  constructor(private readonly api: Backend) {}

  /** Takes a plan. Where nothing has to be asked it is carried out at once. */
  take(plan: UploadPlanView): void {
    if (this.running) return;
    this.dragged = null;
    this.plan = plan;
    this.result = null;
    this.failure = null;
    this.progress = null;
    // Both are kept unless the person says otherwise: the one answer by which nothing can be lost.
    this.choices = plan.files.map((file) => (file.collides && file.kept_as !== null ? 'keep_both' : 'skip'));
    if (plan.files.every((file) => !file.collides && file.refused === null)) void this.run();
  }

  choose(index: number, choice: UploadChoice): void {
    this.choices[index] = choice;
  }

  chooseAll(choice: UploadChoice): void {
    this.choices = (this.plan?.files ?? []).map((file, index) => {
      if (!file.collides) return this.choices[index] ?? 'skip';
      if (choice === 'replace' && !file.replaceable) return 'keep_both';
      return choice;
    });
  }

  async run(): Promise<void> {
    const plan = this.plan;
    if (!plan || this.running) return;
    this.running = true;
    this.stopping = false;
    try {
      this.result = await this.api.call('upload_run', { id: plan.id, choices: [...this.choices] });
    } catch (thrown) {
      this.failure = errorView(thrown);
    } finally {
      this.running = false;
      this.progress = null;
    }
  }

  told(id: string, name: string, done: number, total: number): void {
    if (this.running && this.plan?.id === id) this.progress = { name, done, total };
  }

  async cancel(): Promise<void> {
    if (!this.plan || !this.running) return;
    this.stopping = true;
    await this.api.call('upload_cancel', { id: this.plan.id });
  }

  async undo(edit: EditView): Promise<void> {
    const undone = await this.api.call('edit_undo', { id: edit.id });
    if (this.result) this.result = { ...this.result, added: this.result.added.map((one) => (one.id === edit.id ? { ...one, undo: undone.undo } : one)) };
  }

  close(): void {
    if (this.running) return;
    this.plan = null;
    this.result = null;
    this.failure = null;
  }
}
