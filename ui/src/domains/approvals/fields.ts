/** Fields of a call's arguments, from its JSON Schema and from what is there. Pure. */
import { fieldsOf, type Fields } from './edits';

export type FieldKind = 'line' | 'text' | 'number' | 'boolean' | 'json';

/** Names in the order of the schema, then whatever else is there. */
export function namesOf(schema: unknown, original: Fields, current: Fields): string[] {
  const declared = Object.keys(fieldsOf(fieldsOf(schema).properties));
  const there = new Set([...Object.keys(original), ...Object.keys(current)]);
  return [...declared.filter((name) => there.has(name)), ...[...there].filter((name) => !declared.includes(name))];
}

/** How a field is edited. */
export function kindOf(schema: unknown, name: string, value: unknown): FieldKind {
  const declared = fieldsOf(fieldsOf(fieldsOf(schema).properties)[name]).type;
  if (typeof value === 'string' || (value === undefined && declared === 'string')) {
    return typeof value === 'string' && (value.includes('\n') || value.length > 80 || name === 'content') ? 'text' : 'line';
  }
  if (typeof value === 'boolean' || declared === 'boolean') return 'boolean';
  if (typeof value === 'number' || declared === 'number' || declared === 'integer') return 'number';
  return 'json';
}

export function required(schema: unknown, name: string): boolean {
  const list = fieldsOf(schema).required;
  return Array.isArray(list) && list.includes(name);
}

/** A value as the editor shows it. */
export function shown(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** The value that a text stands for; `undefined` when it cannot be read. */
export function read(kind: FieldKind, text: string): unknown {
  if (kind === 'line' || kind === 'text') return text;
  if (kind === 'boolean') return text === 'true';
  try {
    const value: unknown = JSON.parse(text);
    return kind === 'number' && typeof value !== 'number' ? undefined : value;
  } catch {
    return undefined;
  }
}
