import { describe, expect, it } from 'vitest';
import { en } from '../../lib/i18n/en';
import { zhCN } from '../../lib/i18n/zh-CN';
import { curlFor } from './curl';
import { ruleInWords } from './rule-words';
import { wallClock } from './times';

const english = (rule: string) => ruleInWords(rule, en.automations.words, ', ');

describe('a rule in words', () => {
  it('says the common shapes', () => {
    expect(english('* * * * *')).toBe('Every minute');
    expect(english('*/15 * * * *')).toBe('Every 15 minutes');
    expect(english('5 * * * *')).toBe('Every hour at minute 05');
    expect(english('@daily')).toBe('Every day at 00:00');
    expect(english('@Weekly')).toBe('Sunday at 00:00');
    expect(english('0 9 * * 1-5')).toBe('Monday to Friday at 09:00');
    expect(english('30 8 * * 1,thu,7')).toBe('Monday, Thursday, Sunday at 08:30');
    expect(english('30 17 28 * *')).toBe('Day 28 of each month at 17:30');
    expect(ruleInWords('0 9 * * 1', zhCN.automations.words, '、')).toBe('每周一 09:00');
  });

  it('says nothing where it could say something wrong', () => {
    for (const rule of ['*/7 * * * *', '0 9 1 * 1', '0 9 * 2 *', '0 9-17 * * *', '0 9 * * 1-3', '0 9 * * 8', '0 9 * *', '0 0 9 * * 1', '']) {
      expect(english(rule), rule).toBeNull();
    }
  });
});

describe('the example call', () => {
  it('names the address and leaves the token to a variable', () => {
    const command = curlFor(8765, 'c-1');
    expect(command).toContain('http://127.0.0.1:8765/api/channels/c-1/webhook');
    expect(command, 'the token is not part of it').toContain('$PP_TOKEN');
  });
});

describe('a time on the wall', () => {
  it('is read from the text, whatever this computer’s zone is', () => {
    expect(wallClock('2026-12-07T09:00:00+08:00')).toBe('09:00');
  });
});
