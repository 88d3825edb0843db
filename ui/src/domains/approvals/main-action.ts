/** What the main button of a card does now. Pure: from the facts of the card to one action. */
import type { ApprovalState } from '../../lib/api/generated/ApprovalState';

/** Facts that decide. */
export type Facts = {
  state: ApprovalState;
  stale: boolean;
  outside: boolean;
  heavy: boolean;
  /** Changes that must still be seen. */
  unseen: number;
  /** Notices that are folded away. */
  foldedFlags: number;
  /** Figures that differ or have no source. */
  flagged: number;
  edits: number;
  checking: boolean;
  refused: boolean;
  sending: boolean;
};

export type MainAction =
  | { kind: 'none' }
  | { kind: 'sending' }
  | { kind: 'compare' }
  | { kind: 'checking' }
  | { kind: 'refused' }
  | { kind: 'next'; left: number }
  | { kind: 'flags'; left: number }
  | { kind: 'approve'; outside: boolean; flagged: number; edits: number };

/** The one action; approving comes last, after everything that stands in its way. */
export function mainAction(facts: Facts): MainAction {
  if (facts.sending || facts.state === 'executing') return { kind: 'sending' };
  if (facts.state !== 'pending') return { kind: 'none' };
  if (facts.stale) return { kind: 'compare' };
  if (facts.checking) return { kind: 'checking' };
  if (facts.refused) return { kind: 'refused' };
  if (facts.heavy && facts.unseen > 0) return { kind: 'next', left: facts.unseen };
  if (facts.heavy && facts.foldedFlags > 0) return { kind: 'flags', left: facts.foldedFlags };
  return { kind: 'approve', outside: facts.outside, flagged: facts.flagged, edits: facts.edits };
}
