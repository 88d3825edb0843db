import { describe, expect, it } from 'vitest';
import { bytes, count, grouped, inMannerOf, share } from './numbers';
import { fileName, folderOf, langOf, pieces, shortDigest, titleOf } from './text';
import { clock, isoDay, moment, span } from './time';

describe('numbers', () => {
  it.each([
    ['171717.00', '171,717.00'], ['-110.00', '-110.00'], ['1000', '1,000'], ['0.5', '0.5'], ['12345678901234567890.12', '12,345,678,901,234,567,890.12'], ['12.4 %', '12.4 %'], ['', ''],
  ])('groups %s as %s', (given, wanted) => {
    expect(grouped(given), 'digits are grouped as text, never computed with').toBe(wanted);
  });

  it('says small sizes exactly and large ones in units of 1,024', () => {
    expect(bytes(1023), 'below 1 KB every byte is said').toEqual({ value: '1,023', unit: 'bytes' });
    expect(bytes(1536), 'one decimal below ten').toEqual({ value: '1.5', unit: 'KB' });
    expect(bytes(5 * 1024 * 1024), 'megabytes').toEqual({ value: '5.0', unit: 'MB' });
    expect(bytes(183_296), 'no decimal from ten on').toEqual({ value: '179', unit: 'KB' });
    expect(count(1_000_000), 'counts are grouped').toBe('1,000,000');
  });

  it('draws shares between nothing and all', () => {
    expect(share('50.00', '100.00'), 'half').toBe(0.5);
    expect(share('-50.00', '100.00'), 'a credit has a length too').toBe(0.5);
    expect(share('5', '0'), 'no total, no bar').toBe(0);
    expect(share('x', '10') || 0, 'no number, no bar').toBe(0);
  });

  it.each([
    ['171,177.00', '171717.00', '171,717.00'], ['171177.00', '171,717.00', '171717.00'], ['¥1,000', '2000', '¥2,000'], ['12.4 %', '13.1', '13.1 %'], ['壹佰', '100', '100'],
  ])('writes a computed value in the manner of %s', (text, computed, wanted) => {
    expect(inMannerOf(text, computed), 'the report keeps its own style').toBe(wanted);
  });
});

describe('text', () => {
  it('draws every invisible character by name and leaves the rest', () => {
    expect(pieces('a\u202Eb\u200Bc'), 'bidi and zero width are named').toEqual([
      { text: 'a', hidden: false }, { text: 'U+202E', hidden: true }, { text: 'b', hidden: false }, { text: 'U+200B', hidden: true }, { text: 'c', hidden: false },
    ]);
    expect(pieces('a\tb\nc'), 'tab and line feed are seen').toEqual([{ text: 'a\tb\nc', hidden: false }]);
    expect(pieces('\u{E0041}'), 'tag characters are named').toEqual([{ text: 'U+E0041', hidden: true }]);
    expect(pieces(''), 'nothing gives nothing').toEqual([]);
  });

  it('knows the language of a run', () => {
    expect(langOf('汇总 Q3'), 'any Han makes it Chinese').toBe('zh-CN');
    expect(langOf('Summary'), 'none makes it English').toBe('en');
  });

  it('takes names and titles apart', () => {
    expect(fileName('a/b/c.md'), 'last part').toBe('c.md');
    expect(folderOf('a/b/c.md'), 'with its slash').toBe('a/b/');
    expect(folderOf('c.md'), 'root').toBe('');
    expect(titleOf(' one\ntwo'), 'first line').toBe('one');
    expect(shortDigest('4c1e9ab0aaaabbbb77d2'), 'first eight and last four').toBe('4c1e 9ab0 … 77d2');
    expect(shortDigest('short'), 'short stays').toBe('short');
  });
});

describe('time', () => {
  const now = new Date('2026-11-30T06:30:00Z');

  it('says the clock today and the day before', () => {
    expect(moment(now.toISOString(), 'en', now), 'today').toBe(clock(now.toISOString()));
    expect(moment('2026-09-17T03:04:00Z', 'en', now), 'English day').toMatch(/^17 Sep \d\d:\d\d$/);
    expect(moment('2026-09-17T03:04:00Z', 'zh-CN', now), 'Chinese day').toMatch(/^9 月 17 日 \d\d:\d\d$/);
    expect(clock('no time'), 'nonsense is empty, never NaN').toBe('');
    expect(isoDay('no time'), 'nonsense is empty, never NaN').toBe('');
  });

  it('splits spans', () => {
    expect(span(102_400), 'minutes and seconds').toEqual({ minutes: 1, seconds: 42, tenths: '102.4' });
  });
});
