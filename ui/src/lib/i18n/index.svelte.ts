/** The language of the window, and its messages. */
import type { ErrorCode } from '../api/generated/ErrorCode';
import { en } from './en';
import { errors as enErrors } from './en.errors';
import type { ErrorMessages, ErrorWords, Shape } from './types';
import { zhCN } from './zh-CN';
import { errors as zhErrors } from './zh-CN.errors';

export type Language = 'zh-CN' | 'en';
export type Messages = Shape<typeof en>;

const MESSAGES: Record<Language, Messages> = { 'zh-CN': zhCN, en };
const ERRORS: Record<Language, ErrorMessages> = { 'zh-CN': zhErrors, en: enErrors };

let current = $state<Language>('en');

export const locale = {
  get language(): Language {
    return current;
  },
  set language(next: Language) {
    current = next;
  },
};

/** The messages of the current language; reading it makes an expression follow the language. */
export function t(): Messages {
  return MESSAGES[current];
}

/** Title, what happened to files, and what to do, for a code. A code of a newer core reads as an internal fault. */
export function errorWords(code: ErrorCode): ErrorWords {
  const table: Partial<ErrorMessages> = ERRORS[current];
  return table[code] ?? ERRORS[current].internal;
}
