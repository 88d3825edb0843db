/** How a table difference is laid out: column names and widths, cells of each side, figures by cell. Pure. */
import type { CellChange } from '../../lib/api/generated/CellChange';
import type { Figure } from '../../lib/api/generated/Figure';
import type { RowChange } from '../../lib/api/generated/RowChange';
import type { TableDifference } from '../../lib/api/generated/TableDifference';
import { plain, type Side } from './lines';

/** `A`, `B` … `AA` for a column from 0. */
export function columnName(index: number): string {
  let name = '';
  for (let at = index; at >= 0; at = Math.floor(at / 26) - 1) name = String.fromCharCode(65 + (at % 26)) + name;
  return name;
}

/** An amount or count; a long run of digits is a number of something and stays text. */
const NUMBER = /^(?!\d{11,}$)[-+(]?[¥$€£]?\s?\d[\d,.\s]*%?\)?$/;
const MIN = 5;
const MAX = 34;

/** Width of each column in characters, and whether it holds numbers. Looks at every row, so that no column jumps while scrolling. */
export function columns(table: TableDifference): { width: number; numeric: boolean }[] {
  const width = new Array<number>(table.columns).fill(MIN);
  const numbers = new Array<number>(table.columns).fill(0);
  const filled = new Array<number>(table.columns).fill(0);
  for (const row of table.rows) {
    row.cells.forEach((cell, index) => {
      if (index >= table.columns) return;
      const text = plain(cell.new ?? cell.old ?? []);
      const old = cell.old && cell.new ? plain(cell.old) : '';
      if (text === '' && old === '') return;
      filled[index] = (filled[index] ?? 0) + 1;
      if (NUMBER.test(text)) numbers[index] = (numbers[index] ?? 0) + 1;
      width[index] = Math.min(MAX, Math.max(width[index] ?? MIN, drawn(text), drawn(old)));
    });
  }
  return width.map((value, index) => ({ width: value, numeric: (filled[index] ?? 0) > 1 && (numbers[index] ?? 0) >= 0.6 * (filled[index] ?? 0) }));
}

/** Width in half-width characters. */
export function drawn(text: string): number {
  let sum = 0;
  for (const character of text) sum += (character.codePointAt(0) ?? 0) > 0x2e7f ? 2 : 1;
  return sum;
}

/** Rows that stand on one side, as indices. */
export function rowsOf(table: TableDifference, side: Side): number[] {
  const out: number[] = [];
  table.rows.forEach((row, index) => {
    if (side === 'difference' || (side === 'after' ? row.new !== null : row.old !== null)) out.push(index);
  });
  return out;
}

/** What a cell shows on one side: one text, or the old over the new. */
export function cellOf(row: RowChange, cell: CellChange, side: Side): { old: CellChange['old']; now: CellChange['new'] } {
  if (side === 'after') return { old: null, now: cell.new };
  if (side === 'before') return { old: null, now: cell.old ?? (row.kind === 'added' ? null : cell.new) };
  if (row.kind === 'removed') return { old: null, now: cell.old ?? cell.new };
  return row.kind === 'changed' ? { old: cell.old, now: cell.new } : { old: null, now: cell.new };
}

/** True when the cell differs between the sides. */
export function cellChanged(row: RowChange, cell: CellChange): boolean {
  return row.kind === 'changed' && cell.old !== null;
}

/** Figures by `sheet!cell`, for the cells of a table. */
export function figuresByCell(figures: readonly Figure[]): Map<string, Figure> {
  const out = new Map<string, Figure>();
  for (const figure of figures) out.set(figure.place.replaceAll("'", ''), figure);
  return out;
}

/** The first row as column heads, when it is the same on both sides and no figure. */
export function headRow(table: TableDifference): RowChange | null {
  const first = table.rows[0];
  if (!first || first.kind !== 'same' || first.new !== 1) return null;
  const texts = first.cells.map((cell) => plain(cell.new ?? []));
  return texts.some((text) => text !== '') && texts.every((text) => !NUMBER.test(text)) ? first : null;
}
