/** Sheets in the arguments of a workbook, cell by cell. Pure. */
import { fieldsOf } from './edits';

export type CellValue = string | number | boolean | null;
export type Sheet = { name: string; rows: CellValue[][] };

/** Cells up to which a sheet is edited as a grid; beyond that as JSON. */
const GRID_LIMIT = 1500;

/** The value as sheets, when it is that and small enough to be edited as a grid. */
export function sheetsOf(value: unknown): Sheet[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  let cells = 0;
  for (const sheet of value) {
    const { name, rows } = fieldsOf(sheet);
    if (typeof name !== 'string' || !Array.isArray(rows)) return null;
    for (const row of rows) {
      if (!Array.isArray(row) || !row.every(isCell)) return null;
      cells += row.length;
    }
  }
  return cells <= GRID_LIMIT ? (value as Sheet[]) : null;
}

function isCell(value: unknown): value is CellValue {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** Text of a cell. */
export function cellText(value: CellValue | undefined): string {
  return value === null || value === undefined ? '' : String(value);
}

/** What a typed text means: a number stays a number, an empty cell stays empty, everything else is text. */
export function cellValue(before: CellValue | undefined, text: string): CellValue {
  if (text === '') return before === null ? null : '';
  if (typeof before === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (typeof before === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** The sheets with one cell changed. Nothing else is touched. */
export function withCell(sheets: readonly Sheet[], at: { sheet: number; row: number; column: number }, value: CellValue): Sheet[] {
  return sheets.map((sheet, index) => (index !== at.sheet ? sheet : { ...sheet, rows: sheet.rows.map((row, place) => (place !== at.row ? row : row.map((cell, column) => (column !== at.column ? cell : value)))) }));
}
