/** One open card: what it shows, what was seen of it, what the person is doing with it. */
import { errorView, type Backend } from '../../lib/api/client';
import type { ApprovalView } from '../../lib/api/generated/ApprovalView';
import type { ErrorCode } from '../../lib/api/generated/ErrorCode';
import type { ErrorView } from '../../lib/api/generated/ErrorView';
import { unitsByChange } from '../../shared/difference/units';
import { editedFields, same } from './edits';
import { mainAction, type MainAction } from './main-action';
import { MANY, SeenGate } from './seen-gate';

/** Milliseconds in which a card that has just appeared or moved takes no decision. */
export const DEAD_TIME = 600;
/** Milliseconds after the last key before an edit is checked. */
export const DEBOUNCE = 300;
/** What a decision answers when the card is not what it was. */
const OVERTAKEN: readonly ErrorCode[] = ['approval_stale', 'approval_decided', 'approval_revised', 'mcp_server_changed'];

/** Notices that are shown at first. */
export const FLAGS_SHOWN = 3;

export type View = 'difference' | 'text' | 'after' | 'before' | 'arguments';
export type Mode = 'reading' | 'note' | 'editing';

export class CardState {
  view = $state.raw() as ApprovalView;
  tab = $state<View>('difference');
  mode = $state<Mode>('reading');
  note = $state('');
  /** Change that F7 stands at; 0 before the first. */
  change = $state(0);
  flagsOpen = $state(false);
  checking = $state(false);
  /** Why the edit was refused. */
  refused = $state.raw<ErrorView | null>(null);
  sending = $state<'approve' | 'reject' | 'compare' | null>(null);
  failure = $state.raw<ErrorView | null>(null);
  /** Decided by somebody else while it was open here. */
  elsewhere = $state(false);
  /** False in the dead time. */
  ready = $state(false);
  /** Arguments in the editor; `null` when nothing is edited. */
  draft = $state.raw<unknown>(null);
  gate = $state.raw() as SeenGate;
  /** Changes seen so far; the gate counts, this tells the drawing. */
  seen = $state.raw<readonly number[]>([]);
  private leftNow = $state(0);

  readonly edits = $derived(editedFields(this.view.original.arguments, this.view.call.arguments));
  readonly pending = $derived(this.view.state === 'pending');
  readonly unseen = $derived(this.leftNow);
  /** What to look at twice. Flagged figures stand in the number check and at their lines instead. */
  readonly notices = $derived(this.view.card.flags.filter((flag) => flag.kind !== 'differing_figures' && flag.kind !== 'unsourced_figures'));
  readonly foldedFlags = $derived(this.flagsOpen ? 0 : Math.max(0, this.notices.length - FLAGS_SHOWN));
  /** Figures of the change that differ or have no source. */
  readonly flagged = $derived(this.view.card.numbers.figures.filter((figure) => !figure.kept && (figure.verdict.verdict === 'differs' || figure.verdict.verdict === 'unsourced')).length);
  readonly tooMany = $derived(this.view.card.must_see.length > MANY);
  readonly action = $derived<MainAction>(
    mainAction({
      state: this.view.state,
      stale: this.view.stale,
      outside: this.view.card.verb === 'outside',
      heavy: this.view.card.weight === 'heavy',
      unseen: this.unseen,
      foldedFlags: this.foldedFlags,
      flagged: this.flagged,
      edits: this.edits.length,
      checking: this.checking,
      refused: this.refused !== null,
      sending: this.sending === 'approve',
    }),
  );
  /** True when the main button may do what it says. */
  readonly armed = $derived(this.ready && this.action.kind !== 'sending' && this.action.kind !== 'checking' && this.action.kind !== 'refused' && this.action.kind !== 'none');

  private deadTimer: ReturnType<typeof setTimeout> | null = null;
  private checkTimer: ReturnType<typeof setTimeout> | null = null;
  private checks = 0;
  /** True when what is shown was worked out from arguments that the window sent; they are sent again with a yes. */
  private previewed = false;

  constructor(
    private readonly api: Backend,
    view: ApprovalView,
  ) {
    this.view = view;
    this.gate = this.makeGate();
    this.leftNow = this.gate.left.length;
    this.arm();
  }

  get id(): string {
    return this.view.id;
  }

  /** Begins the dead time anew. */
  arm(): void {
    this.ready = false;
    if (this.deadTimer !== null) clearTimeout(this.deadTimer);
    this.deadTimer = setTimeout(() => (this.ready = true), DEAD_TIME);
  }

  /** The gate counted more. */
  readonly saw = (): void => {
    this.seen = this.gate.seen;
    this.leftNow = this.gate.left.length;
  };

  /** Next (1) or previous (-1) change; gives its number. */
  step(by: 1 | -1): number {
    const count = this.view.card.changes;
    if (count === 0) return 0;
    this.change = Math.min(count, Math.max(1, this.change + by));
    return this.change;
  }

  /** First change that must still be seen from the one where the person is, or the first of all. */
  nextUnseen(): number {
    const left = this.gate.left;
    this.change = left.find((change) => change >= this.change) ?? left[0] ?? this.change;
    return this.change;
  }

  /** Takes new arguments from the editor and has them checked soon. */
  edit(next: unknown): void {
    this.draft = next;
    this.refused = null;
    this.checking = true;
    if (this.checkTimer !== null) clearTimeout(this.checkTimer);
    this.checkTimer = setTimeout(() => void this.check(next), DEBOUNCE);
  }

  /** Puts the model's arguments back. */
  discard(): void {
    this.edit(this.view.original.arguments);
    this.mode = 'reading';
    this.tab = 'difference';
  }

  private async check(proposed: unknown): Promise<void> {
    this.checks += 1;
    const mine = this.checks;
    try {
      const view = await this.api.call('approval_preview_edit', { id: this.view.id, rev: this.view.rev, arguments: proposed });
      if (mine !== this.checks) return;
      this.previewed = true;
      this.take(view);
      this.refused = null;
    } catch (thrown) {
      if (mine !== this.checks) return;
      const error = errorView(thrown);
      if (!(await this.overtaken(error))) this.refused = error;
    } finally {
      if (mine === this.checks && same(this.draft, proposed)) this.checking = false;
    }
  }

  /** Approves this revision of this card, once. Only when the button says so and the dead time is over. */
  async approve(): Promise<void> {
    if (this.action.kind !== 'approve' || !this.ready || this.sending !== null) return;
    this.sending = 'approve';
    this.failure = null;
    const { id, rev, nonce } = this.view;
    try {
      this.take(await this.api.call('approval_approve', { id, rev, nonce, arguments: this.previewed ? this.view.call.arguments : null, seen: [...this.gate.seen] }));
      this.mode = 'reading';
    } catch (thrown) {
      const error = errorView(thrown);
      if (!(await this.overtaken(error))) this.failure = error;
    } finally {
      this.sending = null;
    }
  }

  async reject(): Promise<void> {
    if (!this.pending || this.sending !== null) return;
    this.sending = 'reject';
    this.failure = null;
    const note = this.note.trim();
    try {
      this.take(await this.api.call('approval_reject', { id: this.view.id, note: note === '' ? null : note }));
      this.mode = 'reading';
    } catch (thrown) {
      const error = errorView(thrown);
      if (!(await this.overtaken(error))) this.failure = error;
    } finally {
      this.sending = null;
    }
  }

  /** Works the difference out anew against the file as it is now. Writes nothing. */
  async compare(): Promise<void> {
    if (this.sending !== null) return;
    this.sending = 'compare';
    try {
      await this.refresh();
      if (this.view.state === 'pending' && this.view.stale) {
        const view = await this.api.call('approval_preview_edit', { id: this.view.id, rev: this.view.rev, arguments: this.view.call.arguments });
        this.previewed = true;
        this.take(view);
      }
    } catch (thrown) {
      const error = errorView(thrown);
      if (!(await this.overtaken(error))) this.failure = error;
    } finally {
      this.sending = null;
    }
  }

  /** Fetches the card again, after an event about its task. An edit under way is kept. */
  async refresh(): Promise<void> {
    const view = await this.api.call('approval_get', { id: this.view.id });
    const here = this.sending === 'approve' || this.sending === 'reject';
    if (this.view.state === 'pending' && view.state !== 'pending' && view.state !== 'replaced' && view.state !== 'void' && !here) this.elsewhere = true;
    if (this.previewed && view.state === 'pending') return;
    if (view.state !== 'pending' || view.stale !== this.view.stale || (view.rev !== this.view.rev && this.draft === null)) this.take(view);
    else if (this.draft === null) this.view = { ...this.view, waiting: view.waiting, nonce: view.nonce };
  }

  /** Somebody or something was faster: shows the card as it is now. False for any other error. */
  private async overtaken(error: ErrorView): Promise<boolean> {
    if (!OVERTAKEN.includes(error.code)) return false;
    this.draft = null;
    this.previewed = false;
    this.checking = false;
    this.refused = null;
    this.mode = 'reading';
    this.take(await this.api.call('approval_get', { id: this.view.id }));
    this.elsewhere = error.code === 'approval_decided';
    this.failure = error.code === 'approval_revised' ? error : null;
    return true;
  }

  private take(view: ApprovalView): void {
    const sameContent = view.fingerprint === this.view.fingerprint && view.state === this.view.state;
    this.view = view;
    if (sameContent) return;
    this.gate = this.makeGate();
    this.change = 0;
    this.saw();
    this.arm();
  }

  private makeGate(): SeenGate {
    return new SeenGate(unitsByChange(this.view.card.difference), this.view.state === 'pending' ? this.view.card.must_see : []);
  }
}
