/** Times as a person reads them: local first. */

const two = (value: number) => String(value).padStart(2, '0');

/** `14:02` in local time. */
export function clock(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? '' : `${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** `2026-09-17` in local time, for tables. */
export function isoDay(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? '' : `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** True when both are on one local day. */
export function sameDay(one: string, other: Date): boolean {
  return isoDay(one) === isoDay(other.toISOString());
}

/** `14:02` today, `17 Sep 14:02` or `9 月 17 日 14:02` before. */
export function moment(at: string, language: 'zh-CN' | 'en', now: Date): string {
  if (sameDay(at, now)) return clock(at);
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return '';
  const day =
    language === 'zh-CN'
      ? `${time.getMonth() + 1} 月 ${time.getDate()} 日`
      : `${time.getDate()} ${['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'][time.getMonth()]}`;
  return `${day} ${clock(at)}`;
}

/** A span in milliseconds in its natural parts. */
export function span(millis: number): { minutes: number; seconds: number; tenths: string } {
  const seconds = Math.floor(millis / 1000);
  return { minutes: Math.floor(seconds / 60), seconds: seconds % 60, tenths: (millis / 1000).toFixed(1) };
}
