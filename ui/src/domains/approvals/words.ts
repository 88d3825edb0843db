/** What a card is called, from its facts. */
import type { ApprovalView } from '../../lib/api/generated/ApprovalView';
import type { ApprovalRowView } from '../../lib/api/generated/ApprovalRowView';
import type { FileFacts } from '../../lib/api/generated/FileFacts';
import { count } from '../../lib/format/numbers';
import { t } from '../../lib/i18n/index.svelte';
import { tally } from '../../shared/difference/lines';
import type { IconName } from '../../shared/icons';

/** Verb of a card in plain words. */
export function verbOf(view: ApprovalView): string {
  const words = t().card.verb;
  if (view.card.verb === 'outside') return words.outside;
  if (view.capability.toLowerCase().startsWith('memory:')) return words.memory;
  const table = view.card.difference.kind === 'rows' || view.card.difference.kind === 'cells';
  if (view.card.verb === 'create') return table ? words.createTable : words.create;
  return table ? words.changeTable : words.change;
}

/** State of a card in plain words. */
export function stateOf(view: ApprovalView): string {
  return (view.card.verb === 'outside' ? t().outsideState : t().approvalState)[view.state];
}

/** The same for a row of a list. */
export function rowState(row: ApprovalRowView): string {
  return (row.path === null ? t().outsideState : t().approvalState)[row.state];
}

/** What the card is about: its path, or the outside tool. */
export function targetOf(view: ApprovalView): string {
  return view.path_shown ?? view.path ?? view.tool;
}

/** The same for a row of a list. */
export function rowVerb(row: ApprovalRowView): string {
  const words = t().card.verb;
  if (row.path === null) return words.outside;
  if (row.path.startsWith('memory/')) return words.memory;
  const table = /\.(csv|xlsx)$/i.test(row.path);
  if (!row.overwrites) return table ? words.createTable : words.create;
  return table ? words.changeTable : words.change;
}

export function rowIcon(row: ApprovalRowView): IconName {
  if (row.path === null) return 'terminal';
  if (row.path.startsWith('memory/')) return 'book';
  return /\.(csv|xlsx)$/i.test(row.path) ? 'table' : 'text';
}

/** Size of the change in lines or rows. */
export function changeSize(view: ApprovalView): string {
  const facts = t().card.facts;
  const difference = view.card.difference;
  switch (difference.kind) {
    case 'text':
    case 'outside': {
      const sum = tally(difference.lines);
      return facts.lines(sum.added, sum.removed);
    }
    case 'rows': {
      const sum = tally(difference.table.rows);
      return facts.rows(sum.changed, sum.added, sum.removed);
    }
    case 'cells': {
      const sum = tally(difference.sheets.flatMap((sheet) => sheet.rows));
      return facts.rows(sum.changed, sum.added, sum.removed);
    }
  }
}

/** Bytes before and after. */
export function byteSize(view: ApprovalView): string | null {
  const { before, after } = view.card;
  if (!after) return null;
  return before ? t().card.facts.bytesFrom(count(before.size), count(after.size)) : t().card.facts.bytesNew(count(after.size));
}

/** Encoding and line ends, and whether they change. */
export function format(view: ApprovalView): { text: string; loud: boolean } | null {
  const { before, after } = view.card;
  if (!after) return null;
  const facts = t().card.facts;
  if (!before) return { text: formatOf(after), loud: false };
  if (before.encoding === after.encoding && before.line_end === after.line_end) return { text: `${formatOf(after)} (${facts.unchanged})`, loud: false };
  return { text: `${formatOf(before)} → ${formatOf(after)}`, loud: true };
}

function formatOf(file: FileFacts): string {
  const facts = t().card.facts;
  return facts.format(file.encoding, facts.eol[file.line_end] ?? file.line_end);
}
