/** The cards of this window, so that what was seen of a card is kept when the person comes back to it. */
import { errorView, type Backend } from '../../lib/api/client';
import type { ErrorView } from '../../lib/api/generated/ErrorView';
import { CardState } from './card.svelte';

export class Cards {
  private readonly byId = new Map<string, CardState>();
  private reviewedIds = $state.raw<ReadonlySet<string>>(new Set());

  constructor(private readonly api: Backend) {}

  /** The card of that id, fetched if it was not open before. */
  async open(id: string): Promise<{ card: CardState } | { failure: ErrorView }> {
    const known = this.byId.get(id);
    try {
      if (known) {
        await known.refresh();
        known.arm();
        return { card: known };
      }
      const card = new CardState(this.api, await this.api.call('approval_get', { id }));
      this.byId.set(id, card);
      return { card };
    } catch (thrown) {
      return { failure: errorView(thrown) };
    }
  }

  /** Remembers that everything on this card that must be seen was seen. */
  review(card: CardState): void {
    if (card.action.kind === 'approve' && !this.reviewedIds.has(card.id)) this.reviewedIds = new Set(this.reviewedIds).add(card.id);
  }

  reviewed(id: string): boolean {
    return this.reviewedIds.has(id);
  }
}
