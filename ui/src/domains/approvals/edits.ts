/** What the person changed in the arguments, by top-level field. Pure. */

export type Fields = Record<string, unknown>;

/** Arguments as fields; anything that is not an object has none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** Same JSON value, whatever the order of keys. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) return one.length === other.length && one.every((item, index) => same(item, other[index]));
  if (typeof one === 'object' && typeof other === 'object' && one !== null && other !== null && !Array.isArray(one) && !Array.isArray(other)) {
    const left = fieldsOf(one);
    const right = fieldsOf(other);
    const keys = Object.keys(left);
    return keys.length === Object.keys(right).length && keys.every((key) => key in right && same(left[key], right[key]));
  }
  return false;
}

/** Names of the fields that differ from the model's call. */
export function editedFields(original: unknown, now: unknown): string[] {
  const left = fieldsOf(original);
  const right = fieldsOf(now);
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].filter((key) => !same(left[key], right[key]));
}
