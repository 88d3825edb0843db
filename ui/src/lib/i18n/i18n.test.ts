import { describe, expect, it } from 'vitest';
import generated from '../api/generated/ErrorCode.ts?raw';
import { en } from './en';
import { errors as enErrors } from './en.errors';
import { zhCN } from './zh-CN';
import { errors as zhErrors } from './zh-CN.errors';

/** Every leaf with its path; functions are called with plain values so that their words can be looked at. */
function leaves(node: unknown, path = ''): [string, string][] {
  if (typeof node === 'string') return [[path, node]];
  if (typeof node === 'function') {
    const filled = (one: unknown) => String((node as (...given: unknown[]) => string)(one, one, one, 2));
    return [[`${path}(1)`, filled(1)], [`${path}(2)`, filled(2)]];
  }
  return Object.entries(node as Record<string, unknown>).flatMap(([key, value]) => leaves(value, path === '' ? key : `${path}.${key}`));
}

const declared = generated.matchAll(/"([a-z_]+)"/g);
const codes = [...declared].map((match) => match[1] ?? '').sort();

describe('messages', () => {
  it('have the same keys in both languages', () => {
    expect(leaves(zhCN).map(([path]) => path), 'a key of one language is a key of the other').toEqual(leaves(en).map(([path]) => path));
  });

  it('say something for every error code in both languages', () => {
    expect(codes.length, 'the list of codes was read').toBeGreaterThan(80);
    expect(Object.keys(enErrors).sort(), 'English is total').toEqual(codes);
    expect(Object.keys(zhErrors).sort(), 'Chinese is total').toEqual(codes);
    for (const table of [enErrors, zhErrors]) {
      for (const [code, words] of Object.entries(table)) {
        expect(words.title.length, `${code}: what happened`).toBeGreaterThan(3);
        expect(words.changed, `${code}: whether a file changed`).toMatch(/file|written|changed|approved|nothing|click|文件|写入|改动|批准|改变/i);
        expect(words.next.length, `${code}: what to do now`).toBeGreaterThan(3);
      }
    }
  });

  it('use the words that were agreed', () => {
    const forbiddenEn = /\b(diff|hash|digest|sandbox|payload|commit|deny|denied|expired? card|please|successfully|pending|cron|hallucination)\b|!/i;
    for (const [path, text] of [...leaves(en), ...leaves(enErrors)]) expect(text, `${path}: ${text}`).not.toMatch(forbiddenEn);
    const forbiddenZh = /授权|沙箱|挂起|哈希|摘要|抱歉|亲[，。]|成功地|您|[！!]/;
    for (const [path, text] of [...leaves(zhCN), ...leaves(zhErrors)]) expect(text, `${path}: ${text}`).not.toMatch(forbiddenZh);
  });

  it('leave a blank between Chinese and Latin words, and use full-width marks', () => {
    for (const [path, text] of [...leaves(zhCN), ...leaves(zhErrors)]) {
      expect(text, `${path}: ${text}`).not.toMatch(/[\p{Script=Han}][A-Za-z]|[A-Za-z][\p{Script=Han}]/u);
      expect(text, `${path}: ${text}`).not.toMatch(/[\p{Script=Han}][,;?]|[\p{Script=Han}]: /u);
    }
  });

  it('are Chinese in Chinese', () => {
    const same = new Set(leaves(en).map(([path, text]) => `${path}=${text}`));
    const untranslated = leaves(zhCN).filter(([path, text]) => same.has(`${path}=${text}`) && /[A-Za-z]{4,}/.test(text)).map(([path]) => path);
    expect(untranslated, 'only names stay as they are').toEqual(
      expect.arrayContaining([]),
    );
    for (const path of untranslated) expect(path, 'a name, a kind of file or a figure').toMatch(/^product|banner|preview\.kind|version|webhook|facts\.format|analysis\.place|cell/i);
  });
});
