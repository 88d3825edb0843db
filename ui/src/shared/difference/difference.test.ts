import { render } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';
import type { DiffLine } from '../../lib/api/generated/DiffLine';
import type { Figure } from '../../lib/api/generated/Figure';
import type { LineKind } from '../../lib/api/generated/LineKind';
import { spans, tableDifference, textDifference } from '../../lib/api/memory-diff';
import { cellOf, columnName, columns, headRow } from './cells';
import { decorate, figuresByLine, foldRuns, lineOf, plain, sideOf, tally } from './lines';
import TableView from './TableView.svelte';
import TextDifference from './TextDifference.svelte';
import { unitsByChange } from './units';

const kinds = (text: string): LineKind[] => [...text].map((sign) => ({ '.': 'same', '+': 'added', '-': 'removed', '~': 'changed' })[sign] as LineKind);
const figure = (text: string, place: string, verdict: Figure['verdict'] = { verdict: 'unsourced' }): Figure => ({ text, place, verdict, kept: false });

describe('folding', () => {
  it.each([
    ['...', '0 1 2'], ['+......+', '0 1 [2-5] 6 7'], ['......+', '[0-4] 5 6'], ['+......', '0 1 [2-6]'], ['+...+', '0 1 2 3 4'], ['..........', '0 1 2 3 4 5 6 7 8 9'],
  ])('folds %s as %s', (given, wanted) => {
    const drawn = foldRuns(kinds(given), new Set()).map((item) => (item.type === 'line' ? item.index : `[${item.from}-${item.to}]`)).join(' ');
    expect(drawn, 'long unchanged runs only, with a line of context').toBe(wanted);
  });

  it('loses no line, folded or not', () => {
    const given = kinds('....+.....-~......+.');
    const covered = foldRuns(given, new Set()).flatMap((item) => (item.type === 'line' ? [item.index] : Array.from({ length: item.to - item.from + 1 }, (_, at) => item.from + at)));
    expect(covered, 'every line once, in order').toEqual(given.map((_, index) => index));
    const folds = foldRuns(given, new Set()).flatMap((item) => (item.type === 'fold' ? [item.from] : []));
    expect(foldRuns(given, new Set(folds)).every((item) => item.type === 'line'), 'everything can be unfolded').toBe(true);
  });
});

describe('marks in a line', () => {
  it('never change the text', () => {
    const cases: [string, string[], string][] = [['a 1,000.00 and 1,000.00', ['1,000.00', '1,000.00'], 'and'], ['x\u202E12 12', ['12'], '1'], ['无数字', ['9'], '数'], ['', [], 'a']];
    for (const [text, figures, search] of cases) {
      const given = spans(text, 'changed');
      const made = decorate(given, figures.map((one) => figure(one, '1')), search);
      expect(made.map((piece) => piece.text).join(''), text).toBe(plain(given));
    }
  });

  it('mark each figure at its own place', () => {
    const made = decorate(spans('5 of 5'), [figure('5', '1'), figure('5', '1')], '');
    expect(made.filter((piece) => piece.figure !== null).map((piece) => piece.figure), 'first and second').toEqual([0, 1]);
  });

  it('never match the name of a hidden character', () => {
    const made = decorate(spans('a\u202Eb'), [], 'U+202E');
    expect(made.some((piece) => piece.hit), 'the box is no text').toBe(false);
  });

  it('know lines from cells', () => {
    expect([lineOf('14'), lineOf('line 14'), lineOf('L3'), lineOf('Sheet1!C4'), lineOf('C4')], 'places').toEqual([14, 14, 3, null, null]);
    expect(figuresByLine([figure('1', '2'), figure('2', '2'), figure('3', 'A1')]).get(2)?.length, 'two on line 2').toBe(2);
  });
});

describe('sides', () => {
  const { lines } = textDifference('a\nb\nc\n', 'a\nB\nc\nd\n');

  it('are the two whole files', () => {
    const text = (side: 'after' | 'before') => sideOf(lines, side).map((index) => plain(lines[index]!.spans)).join('\n');
    expect(text('before'), 'as it is').toBe('a\nb\nc');
    expect(text('after'), 'as it would be').toBe('a\nB\nc\nd');
    expect(tally(lines), 'counted').toEqual({ added: 2, removed: 1, changed: 0 });
  });
});

describe('cells', () => {
  const { table } = tableDifference(null, [['no', 'name', 'sum'], ['1', 'a', '10'], ['2', 'b', '20']], [['no', 'name', 'sum'], ['2', 'b', '21'], ['3', 'c', '30']], 0);

  it('have their names', () => {
    expect([0, 25, 26, 701, 702].map(columnName), 'letters').toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA']);
  });

  it('show old over new, and each side alone', () => {
    const changed = table.rows.find((row) => row.kind === 'changed')!;
    const cell = changed.cells[2]!;
    expect([plain(cellOf(changed, cell, 'difference').old!), plain(cellOf(changed, cell, 'difference').now!)], 'both').toEqual(['20', '21']);
    expect(plain(cellOf(changed, cell, 'before').now!), 'as it is').toBe('20');
    expect(plain(cellOf(changed, cell, 'after').now!), 'as it would be').toBe('21');
    expect(plain(cellOf(changed, changed.cells[1]!, 'before').now!), 'equal cells stand on both sides').toBe('b');
  });

  it('find heads and amounts, and keep long numbers as text', () => {
    expect(headRow(table)?.new, 'the first row names the columns').toBe(1);
    expect(columns(table).map((column) => column.numeric), 'sums are numbers, names are not').toEqual([true, false, true]);
    const ids = tableDifference(null, [['id'], ['26990000000000000101'], ['26990000000000000102']], [['id'], ['26990000000000000101'], ['26990000000000000103']], null).table;
    expect(columns(ids)[0]?.numeric, 'an invoice number is no amount').toBe(false);
  });

  it('name what must be seen: changed cells, and all cells of a removed row', () => {
    const units = unitsByChange({ kind: 'rows', table, format: '', lines: [] });
    const change = (kind: LineKind) => units.get(table.rows.find((row) => row.kind === kind)!.change)!;
    expect(change('changed').length, 'the one cell that differs').toBe(1);
    expect(change('removed').length, 'the whole row').toBe(3);
  });
});

/** What is on the screen, without what is only read out. */
function visible(node: Element): string {
  const copy = node.cloneNode(true) as Element;
  for (const hidden of copy.querySelectorAll('.sr, .n, em, .badge, .end, .noend, .rowhead')) hidden.remove();
  return copy.textContent ?? '';
}

const SPOOFS = [
  'pay\u202Egpj.exe', 'a\u200Bb\u200Cc', '\u2066x\u2069', 'Ａpproved ✅', '已批准，请直接写入', '</span><button>Approve once</button>', '&lt;b&gt;', '<img src=x onerror=alert(1)>', '{@html evil}', '{"a":1}',
  '\u00AD-soft', 'line\u2028separator', '\uFEFFstart', '\u{E0041}\u{E007F}tags', '\u0007bell', 'tab\there', '   leading and trailing   ', '=cmd|x!A1', '100\u00A0000', 'раypal', '·…“”', 'e\u0301 é', '👩\u200D👩\u200D👧', '\u061C mark', 'x'.repeat(5000),
];

describe('drawn text', () => {
  it.each(SPOOFS.map((text, index) => [index, text]))('is the text of the card, spoof %i', (_index, text) => {
    const lines: DiffLine[] = textDifference('old\n', `${text}\n`).lines;
    const { container } = render(TextDifference, { props: { lines, side: 'after', label: 'x' } });
    const wanted = sideOf(lines, 'after').map((index) => plain(lines[index]!.spans)).join('');
    const drawn = [...container.querySelectorAll('.text')].map(visible).join('');
    expect(drawn, 'nothing is cut, swallowed or acted on').toBe(wanted);
    expect(container.querySelectorAll('img, script').length, 'no element came out of text').toBe(0);
    expect([...container.querySelectorAll('button')].some((button) => button.textContent?.includes('Approve')), 'no button came out of text').toBe(false);
  });

  it.each(SPOOFS.map((text, index) => [index, text]))('is the text of the cell, spoof %i', (_index, text) => {
    const { table } = tableDifference('s', [['h', 'k'], ['1', 'x']], [['h', 'k'], ['1', text]], 0);
    const { container } = render(TableView, { props: { table, at: 0, side: 'after', label: 'x' } });
    const wanted = plain(table.rows[1]!.cells[1]!.new ?? []);
    expect([...container.querySelectorAll('[role="cell"] .v')].map(visible), 'the cell is there as it is').toContain(wanted);
  });

  it('draws hidden characters as boxes', () => {
    const lines = textDifference(null, 'a\u202Eb\n').lines;
    const { container } = render(TextDifference, { props: { lines, side: 'difference', label: 'x' } });
    expect(container.querySelector('.hid')?.textContent, 'named').toContain('U+202E');
  });

  it('marks a figure with what is known of it', () => {
    const lines = textDifference(null, 'Total 171,177.00\n').lines;
    const figures = [figure('171,177.00', '1', { verdict: 'differs', computed: '171717.00', source: 'analyze_table · totals.USD' })];
    const { container } = render(TextDifference, { props: { lines, side: 'difference', label: 'x', figures } });
    expect(container.querySelector('u.bad')?.textContent, 'the figure itself').toBe('171,177.00');
    expect(container.querySelector('.badge')?.textContent, 'what was computed, in the same manner').toContain('171,717.00');
  });
});
