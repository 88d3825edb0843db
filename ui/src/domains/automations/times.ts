/** Times of a schedule as a person reads them. */
import { clock, isoDay } from '../../lib/format/time';

/** `Mon 2026-12-07 09:00` in local time. */
export function runAt(at: string, language: string): string {
  const day = new Date(at).toLocaleDateString(language, { weekday: 'short' });
  return `${day} ${isoDay(at)} ${clock(at)}`;
}

/** The time of day in a text with a date, an offset and a time: `01:00`. */
export function wallClock(text: string): string {
  return text.slice(11, 16);
}

/** This computer's offset from UTC: `UTC+8`. */
export function offsetHere(now: Date): string {
  const minutes = -now.getTimezoneOffset();
  const whole = Math.floor(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  return `UTC${minutes < 0 ? '−' : '+'}${whole}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}
