/** A small stand-in for the core's differences, so that an edit can be tried without the core. Real cards come from Rust. */
import type { CellChange } from './generated/CellChange';
import type { DiffLine } from './generated/DiffLine';
import type { LineKind } from './generated/LineKind';
import type { RowChange } from './generated/RowChange';
import type { Span } from './generated/Span';
import type { SpanMark } from './generated/SpanMark';
import type { TableDifference } from './generated/TableDifference';

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu;

/** Text as spans, hidden characters by name. */
export function spans(text: string, mark: SpanMark = 'plain'): Span[] {
  const out: Span[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match[0] === '\t') continue;
    if (match.index > from) out.push({ text: text.slice(from, match.index), mark });
    out.push({ text: `U+${(match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`, mark: 'hidden' });
    from = match.index + match[0].length;
  }
  if (from < text.length) out.push({ text: text.slice(from), mark });
  return out;
}

/** Pairs of equal items in both lists, in order (longest common subsequence). */
function common<T>(old: readonly T[], now: readonly T[], same: (a: T, b: T) => boolean): [number, number][] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const row = table[i];
      if (!row) continue;
      row[j] = same(old[i] as T, now[j] as T) ? (table[i + 1]?.[j + 1] ?? 0) + 1 : Math.max(table[i + 1]?.[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  const out: [number, number][] = [];
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    if (same(old[i] as T, now[j] as T)) out.push([i++, j++]);
    else if ((table[i + 1]?.[j] ?? 0) >= (table[i]?.[j + 1] ?? 0)) i += 1;
    else j += 1;
  }
  return out;
}

const words = (line: string): string[] => line.match(/[\p{L}\p{N}.,]+|\s+|[^\p{L}\p{N}\s]/gu) ?? [];

/** Both lines with marks on the words that differ; without marks when they have little in common. */
function marked(old: string, now: string): [Span[], Span[]] {
  const [left, right] = [words(old), words(now)];
  const pairs = common(left, right, (a, b) => a === b);
  const kept = pairs.reduce((sum, [at]) => sum + (left[at]?.trim().length ?? 0), 0);
  if (kept * 3 < Math.min(old.trim().length, now.trim().length)) return [spans(old), spans(now)];
  const keptLeft = new Set(pairs.map(([at]) => at));
  const keptRight = new Set(pairs.map(([, at]) => at));
  const draw = (list: string[], stay: Set<number>): Span[] => {
    const out: Span[] = [];
    list.forEach((word, index) => {
      for (const span of spans(word, stay.has(index) ? 'plain' : 'changed')) {
        const last = out.at(-1);
        if (last && last.mark === span.mark && span.mark !== 'hidden') last.text += span.text;
        else out.push(span);
      }
    });
    return out;
  };
  return [draw(left, keptLeft), draw(right, keptRight)];
}

const split = (text: string): string[] => {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n').map((line) => line.replace(/\r$/, ''));
};

/** Lines of two texts. */
export function textDifference(old: string | null, now: string): { lines: DiffLine[]; changes: number; mustSee: number[] } {
  const left = split(old ?? '');
  const right = split(now);
  const lines: DiffLine[] = [];
  const must = new Set<number>();
  let change = 0;
  const pairs: [number, number][] = [...common(left, right, (a, b) => a === b), [left.length, right.length]];
  const line = (kind: LineKind, from: number | null, to: number | null, parts: Span[], number: number): DiffLine => ({
    kind, old: from === null ? null : from + 1, new: to === null ? null : to + 1, spans: parts, change: number, no_line_end: to !== null && to === right.length - 1 && !now.endsWith('\n'),
  });
  let [i, j] = [0, 0];
  for (const [oldAt, newAt] of pairs) {
    const removed = left.slice(i, oldAt);
    const added = right.slice(j, newAt);
    if (removed.length + added.length > 0) {
      change += 1;
      if (removed.length > 0) must.add(change);
      const both = removed.length === added.length ? removed.map((text, index) => marked(text, added[index] ?? '')) : null;
      removed.forEach((text, index) => lines.push(line('removed', i + index, null, both?.[index]?.[0] ?? spans(text), change)));
      added.forEach((text, index) => lines.push(line('added', null, j + index, both?.[index]?.[1] ?? spans(text), change)));
    }
    if (oldAt < left.length && newAt < right.length) lines.push(line('same', oldAt, newAt, spans(left[oldAt] ?? ''), 0));
    [i, j] = [oldAt + 1, newAt + 1];
  }
  return { lines, changes: change, mustSee: [...must] };
}

/** Rows of two tables, matched by the column of that number, else by place. */
export function tableDifference(name: string | null, old: readonly string[][], now: readonly string[][], key: number | null, firstChange = 0): { table: TableDifference; changes: number; mustSee: number[] } {
  const width = Math.max(0, ...old.map((row) => row.length), ...now.map((row) => row.length));
  const keyOf = (row: readonly string[] | undefined, index: number) => (key === null ? String(index) : (row?.[key] ?? ''));
  const oldByKey = new Map(old.map((row, index) => [keyOf(row, index), index]));
  const newKeys = new Set(now.map((row, index) => keyOf(row, index)));
  const rows: RowChange[] = [];
  const must = new Set<number>();
  let change = firstChange;
  let passed = 0;
  const cellsOf = (before: readonly string[] | null, after: readonly string[] | null): CellChange[] =>
    Array.from({ length: width }, (_, column) => {
      const was = before?.[column] ?? '';
      const is = after?.[column] ?? '';
      if (!before) return { old: null, new: spans(is) };
      if (!after) return { old: spans(was), new: null };
      return was === is ? { old: null, new: spans(is) } : { old: spans(was, 'changed'), new: spans(is, 'changed') };
    });
  const removedUpTo = (end: number) => {
    for (; passed < end; passed += 1) {
      if (newKeys.has(keyOf(old[passed], passed))) continue;
      change += 1;
      must.add(change);
      rows.push({ kind: 'removed', old: passed + 1, new: null, cells: cellsOf(old[passed] ?? [], null), change });
    }
  };
  now.forEach((row, index) => {
    const at = oldByKey.get(keyOf(row, index));
    if (at === undefined) {
      change += 1;
      rows.push({ kind: 'added', old: null, new: index + 1, cells: cellsOf(null, row), change });
      return;
    }
    removedUpTo(at);
    passed = Math.max(passed, at + 1);
    const cells = cellsOf(old[at] ?? [], row);
    const differs = cells.some((cell) => cell.old !== null);
    if (differs) {
      change += 1;
      must.add(change);
    }
    rows.push({ kind: differs ? 'changed' : 'same', old: at + 1, new: index + 1, cells, change: differs ? change : 0 });
  });
  removedUpTo(old.length);
  const kind: LineKind = old.length === 0 ? 'added' : now.length === 0 ? 'removed' : rows.some((row) => row.change > 0) ? 'changed' : 'same';
  return {
    table: {
      name, kind, matched_by: key === null ? null : (now[0]?.[key] ?? null), columns: width,
      column_places: Array.from({ length: width }, (_, column) => ({ old: old.length > 0 ? column + 1 : null, new: now.length > 0 ? column + 1 : null })), rows,
    },
    changes: change, mustSee: [...must],
  };
}

/** A very small csv reader: quotes, no line breaks inside cells. */
export function csvRows(text: string): string[][] {
  return split(text.replace(/^\uFEFF/, '')).map((line) => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((match) => (match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'))));
}
