/** How a text difference is laid out: folding, the two whole files, and marks inside a line. Pure. */
import type { DiffLine } from '../../lib/api/generated/DiffLine';
import type { Figure } from '../../lib/api/generated/Figure';
import type { LineKind } from '../../lib/api/generated/LineKind';
import type { Span } from '../../lib/api/generated/Span';
import type { SpanMark } from '../../lib/api/generated/SpanMark';

/** A row of the list: a line of the difference, or a run of unchanged lines that is folded. */
export type Item = { type: 'line'; index: number } | { type: 'fold'; from: number; to: number };

/** Which of the three tabs is drawn. All come from the same lines, so they cannot disagree. */
export type Side = 'difference' | 'after' | 'before';

const CONTEXT = 1;
const SHORT = 3;

/** Folds unchanged runs longer than three lines; `open` holds the first index of runs that the person unfolded. */
export function foldRuns(kinds: readonly LineKind[], open: ReadonlySet<number>): Item[] {
  const out: Item[] = [];
  let at = 0;
  while (at < kinds.length) {
    if (kinds[at] !== 'same') {
      out.push({ type: 'line', index: at });
      at += 1;
      continue;
    }
    let end = at;
    while (end + 1 < kinds.length && kinds[end + 1] === 'same') end += 1;
    const from = at === 0 ? at : at + CONTEXT;
    const to = end === kinds.length - 1 ? end : end - CONTEXT;
    const folds = to - from + 1 > SHORT && !open.has(from) && !(at === 0 && end === kinds.length - 1);
    for (let index = at; index <= end; index += 1) {
      if (folds && index === from) out.push({ type: 'fold', from, to });
      if (!folds || index < from || index > to) out.push({ type: 'line', index });
    }
    at = end + 1;
  }
  return out;
}

/** Indices of the lines that a whole file consists of. */
export function sideOf(lines: readonly DiffLine[], side: 'after' | 'before'): number[] {
  const out: number[] = [];
  lines.forEach((line, index) => {
    if (side === 'after' ? line.new !== null : line.old !== null) out.push(index);
  });
  return out;
}

/** How many lines are added and removed. */
export function tally(lines: readonly { kind: LineKind }[]): { added: number; removed: number; changed: number } {
  const out = { added: 0, removed: 0, changed: 0 };
  for (const line of lines) if (line.kind !== 'same') out[line.kind] += 1;
  return out;
}

/** A piece of a line as it is drawn. */
export type Piece = { text: string; mark: SpanMark; figure: number | null; hit: boolean };

/** Splits the spans of a line at its figures and search hits. The text of the pieces is the text of the spans. */
export function decorate(spans: readonly Span[], figures: readonly Figure[], search: string): Piece[] {
  // A hidden character is drawn by name; the name is not text and never matches.
  const flat = spans.map((span) => (span.mark === 'hidden' ? '\uFFFF'.repeat(span.text.length) : span.text)).join('');
  const ranges = [...figureRanges(flat, figures), ...searchRanges(flat, search)];
  if (ranges.length === 0) return spans.map((span) => ({ text: span.text, mark: span.mark, figure: null, hit: false }));
  const cuts = new Set<number>();
  for (const range of ranges) cuts.add(range.from).add(range.to);
  const out: Piece[] = [];
  let offset = 0;
  for (const span of spans) {
    const inner = span.mark === 'hidden' ? [] : [...cuts].filter((cut) => cut > offset && cut < offset + span.text.length).sort((a, b) => a - b);
    const edges = [offset, ...inner, offset + span.text.length];
    for (let index = 0; index + 1 < edges.length; index += 1) {
      const from = edges[index] ?? 0;
      const to = edges[index + 1] ?? 0;
      const on = ranges.filter((range) => range.from <= from && range.to >= to);
      const figure = on.find((range) => range.figure !== null)?.figure ?? null;
      out.push({ text: span.text.slice(from - offset, to - offset), mark: span.mark, figure, hit: on.some((range) => range.figure === null) });
    }
    offset += span.text.length;
  }
  return out;
}

type Range = { from: number; to: number; figure: number | null };

function figureRanges(flat: string, figures: readonly Figure[]): Range[] {
  const out: Range[] = [];
  let cursor = 0;
  figures.forEach((figure, index) => {
    if (figure.text === '') return;
    let at = flat.indexOf(figure.text, cursor);
    if (at < 0) at = flat.indexOf(figure.text);
    if (at < 0) return;
    cursor = at + figure.text.length;
    out.push({ from: at, to: cursor, figure: index });
  });
  return out;
}

function searchRanges(flat: string, search: string): Range[] {
  if (search === '') return [];
  const out: Range[] = [];
  const hay = flat.toLowerCase();
  const needle = search.toLowerCase();
  // Lower-casing may change a length in rare scripts; then only the line is marked, not the place.
  if (hay.length !== flat.length) return out;
  for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, at + needle.length)) out.push({ from: at, to: at + needle.length, figure: null });
  return out;
}

/** Text of a line without its marks; hidden characters by name. */
export function plain(spans: readonly Span[]): string {
  return spans.map((span) => span.text).join('');
}

/** Line number that a figure stands on, or `null` when its place is a cell. */
export function lineOf(place: string): number | null {
  const match = /^(?:[Ll]ine\s*|L)?(\d+)$/.exec(place.trim());
  return match ? Number(match[1]) : null;
}

/** Figures by the line of the new text that they stand on. */
export function figuresByLine(figures: readonly Figure[]): Map<number, Figure[]> {
  const out = new Map<number, Figure[]>();
  for (const figure of figures) {
    const line = lineOf(figure.place);
    if (line === null) continue;
    const list = out.get(line);
    if (list) list.push(figure);
    else out.set(line, [figure]);
  }
  return out;
}
