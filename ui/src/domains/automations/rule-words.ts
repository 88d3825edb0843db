/** A rule in words, for the shapes that people mostly write. The times below it are the core's and always right. */
import type { en } from '../../lib/i18n/en';
import type { Shape } from '../../lib/i18n/types';

type Words = Shape<(typeof en)['automations']['words']>;

const NAMED: Record<string, string> = { '@hourly': '0 * * * *', '@daily': '0 0 * * *', '@weekly': '0 0 * * 0' };
const DAYS = ['d0', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6'] as const;

/** Words of a rule; `null` when it is not one of the common shapes. */
export function ruleInWords(rule: string, words: Words, separator: string): string | null {
  const fields = (NAMED[rule.trim().toLowerCase()] ?? rule.trim()).split(/\s+/);
  if (fields.length !== 5) return null;
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  if (month !== '*') return null;
  if (hour === '*' && day === '*' && weekday === '*') return withinTheHour(minute, words);
  const time = clockOf(minute, hour);
  if (time === null) return null;
  if (day === '*' && weekday === '*') return words.daily(time);
  if (day === '*' && /^(1-5|mon-fri)$/i.test(weekday)) return words.workdays(time);
  if (day === '*') {
    const days = daysOf(weekday, words);
    return days === null ? null : words.weekly(days.join(separator), time);
  }
  return weekday === '*' && /^\d{1,2}$/.test(day) ? words.monthly(Number(day), time) : null;
}

function withinTheHour(minute: string, words: Words): string | null {
  if (minute === '*') return words.everyMinute;
  const step = /^\*\/(\d{1,2})$/.exec(minute)?.[1];
  // A step that does not divide the hour has a shorter last part.
  if (step !== undefined) return 60 % Number(step) === 0 ? words.everyMinutes(Number(step)) : null;
  return /^\d{1,2}$/.test(minute) ? words.hourly(minute.padStart(2, '0')) : null;
}

function clockOf(minute: string, hour: string): string | null {
  if (!/^\d{1,2}$/.test(minute) || !/^\d{1,2}$/.test(hour)) return null;
  return `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
}

function daysOf(weekday: string, words: Words): string[] | null {
  const names = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
  const found: string[] = [];
  for (const part of weekday.toLowerCase().split(',')) {
    const at = names.indexOf(part);
    const number = at >= 0 ? at : /^[0-7]$/.test(part) ? Number(part) % 7 : null;
    const key = number === null ? undefined : DAYS[number];
    if (key === undefined) return null;
    found.push(words.days[key]);
  }
  return found;
}
