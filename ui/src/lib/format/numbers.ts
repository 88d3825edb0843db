/** Numbers as a person reads them. Amounts stay decimal strings: nothing here computes with them. */

/** Groups the digits of a decimal string: `171717.00` → `171,717.00`. Anything else is returned as it is. */
export function grouped(decimal: string): string {
  const match = /^([+-]?)(\d+)(\.\d+)?$/.exec(decimal);
  if (!match) return decimal;
  const [, sign = '', whole = '', fraction = ''] = match;
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${fraction}`;
}

/** A count with grouped digits. */
export function count(value: number): string {
  return grouped(String(Math.trunc(value)));
}

/** Bytes: exact below 1,024, then KB and MB with 1 KB = 1,024 bytes. */
export function bytes(value: number): { value: string; unit: 'bytes' | 'KB' | 'MB' | 'GB' } {
  if (value < 1024) return { value: count(value), unit: 'bytes' };
  const units = ['KB', 'MB', 'GB'] as const;
  let amount = value;
  let unit: (typeof units)[number] = 'KB';
  for (const next of units) {
    amount /= 1024;
    unit = next;
    if (amount < 1024) break;
  }
  return { value: amount < 10 ? amount.toFixed(1) : String(Math.round(amount)), unit };
}

/** Share of a total for the length of a bar, from 0 to 1. Only for drawing: the number shown is the string itself. */
export function share(part: string, total: string): number {
  const whole = Math.abs(Number(total));
  if (!Number.isFinite(whole) || whole === 0) return 0;
  return Math.min(1, Math.max(0, Math.abs(Number(part)) / whole));
}

/** Writes `computed` in the manner of the figure that it replaces: grouped digits, currency sign, unit. */
export function inMannerOf(text: string, computed: string): string {
  const match = /^([^\d+-]*)([+-]?\d[\d,]*(?:\.\d+)?)(.*)$/su.exec(text);
  if (!match) return computed;
  const [, before = '', number = '', after = ''] = match;
  const bare = computed.replaceAll(',', '');
  return `${before}${number.includes(',') ? grouped(bare) : bare}${after}`;
}
