/** The parts of a difference that can be on screen or not, by change. The names are those that the drawn rows carry. */
import type { CellChange } from '../../lib/api/generated/CellChange';
import type { Difference } from '../../lib/api/generated/Difference';
import type { RowChange } from '../../lib/api/generated/RowChange';
import type { TableDifference } from '../../lib/api/generated/TableDifference';
import { cellChanged } from './cells';

export const lineUnit = (index: number): string => `l${index}`;
export const cellUnit = (table: number, row: number, cell: number): string => `t${table}r${row}c${cell}`;

/** Every unit of each change. A change counts as seen when all its units were. */
export function unitsByChange(difference: Difference): Map<number, string[]> {
  const out = new Map<number, string[]>();
  const add = (change: number, unit: string) => {
    if (change === 0) return;
    const list = out.get(change);
    if (list) list.push(unit);
    else out.set(change, [unit]);
  };
  switch (difference.kind) {
    case 'text':
    case 'outside':
      difference.lines.forEach((line, index) => add(line.change, lineUnit(index)));
      break;
    case 'rows':
      tableUnits(difference.table, 0, add);
      break;
    case 'cells':
      difference.sheets.forEach((sheet, index) => tableUnits(sheet, index, add));
      break;
  }
  return out;
}

/** True for a cell that must be on screen: of a changed row those that differ, of a removed or added row all that hold something. */
export function counts(row: RowChange, cell: CellChange): boolean {
  if (row.change === 0) return false;
  return row.kind === 'changed' ? cellChanged(row, cell) : (cell.new ?? cell.old ?? []).length > 0;
}

function tableUnits(table: TableDifference, at: number, add: (change: number, unit: string) => void): void {
  table.rows.forEach((row, index) => {
    if (row.change === 0) return;
    let any = false;
    row.cells.forEach((cell, column) => {
      if (!counts(row, cell)) return;
      any = true;
      add(row.change, cellUnit(at, index, column));
    });
    if (!any) add(row.change, cellUnit(at, index, -1));
  });
}
