import { describe, expect, it } from 'vitest';
import { editedFields, same } from './edits';
import { kindOf, namesOf, read } from './fields';
import { removeSentence, useComputed } from './figures';
import { mainAction, type Facts } from './main-action';
import { cellValue, sheetsOf, withCell } from './sheets';
import { DWELL, MANY, SeenGate } from './seen-gate';

describe('gate', () => {
  const make = (units: Record<number, string[]>, must?: number[]) => new SeenGate(new Map(Object.entries(units).map(([change, names]) => [Number(change), names])), must ?? Object.keys(units).map(Number));

  it('opens when every part was fully on screen for 400 ms', () => {
    const gate = make({ 1: ['a', 'b'], 2: ['c'] });
    gate.show('a', 0, 21, 21, 0);
    gate.show('b', 0, 21, 21, 0);
    expect(gate.tick(DWELL - 1), 'one millisecond short').toBe(false);
    expect(gate.tick(DWELL), 'long enough').toBe(true);
    expect([gate.seen, gate.left], 'the first is seen').toEqual([[1], [2]]);
  });

  it('does not count a part that is only partly there', () => {
    const gate = make({ 1: ['a'] });
    gate.show('a', 0, 10, 21, 0);
    gate.tick(10_000);
    expect(gate.left, 'half a line is no line').toEqual([1]);
    gate.show('a', 0, 21, 21, 10_000);
    gate.tick(10_000 + DWELL);
    expect(gate.left, 'now it was whole').toEqual([]);
  });

  it('begins anew when a part leaves the screen', () => {
    const gate = make({ 1: ['a'] });
    gate.show('a', 0, 21, 21, 0);
    gate.hide('a', 300);
    gate.show('a', 0, 21, 21, 350);
    gate.tick(600);
    expect(gate.left, '250 ms at a time is not 400').toEqual([1]);
    gate.tick(350 + DWELL);
    expect(gate.left, 'then it was').toEqual([]);
  });

  it('counts a part that left after its time', () => {
    const gate = make({ 1: ['a'] });
    gate.show('a', 0, 21, 21, 0);
    gate.hide('a', DWELL + 5);
    expect(gate.has(1), 'it had been there long enough').toBe(true);
  });

  it('takes a part that is taller than the screen piece by piece', () => {
    const gate = make({ 1: ['tall'] });
    gate.show('tall', 0, 400, 1000, 0);
    gate.show('tall', 350, 750, 1000, 500);
    gate.show('tall', 700, 1000, 1000, 1000);
    gate.tick(1100);
    expect(gate.left, 'the end was there for 100 ms only').toEqual([1]);
    gate.tick(1000 + DWELL);
    expect(gate.left, 'all of it was there').toEqual([]);
    const hurried = make({ 1: ['tall'] });
    hurried.show('tall', 0, 400, 1000, 0);
    hurried.show('tall', 600, 1000, 1000, 500);
    hurried.tick(2000);
    expect(hurried.left, 'the middle was never there').toEqual([1]);
  });

  it('counts nothing while paused', () => {
    const gate = make({ 1: ['a'] });
    gate.show('a', 0, 21, 21, 0);
    gate.pause(true, 100);
    gate.tick(5000);
    expect(gate.left, 'a hidden window is not looked at').toEqual([1]);
    gate.pause(false, 5000);
    gate.tick(5000 + DWELL - 1);
    expect(gate.left, 'time begins anew').toEqual([1]);
    gate.tick(5000 + DWELL);
    expect(gate.left, 'and counts').toEqual([]);
  });

  it('asks only for the end of a very long list', () => {
    const units = Object.fromEntries(Array.from({ length: MANY + 1 }, (_, index) => [index + 1, [`u${index + 1}`]]));
    const gate = make(units);
    expect(gate.left, 'the last stands for all').toEqual([MANY + 1]);
    gate.show(`u${MANY + 1}`, 0, 21, 21, 0);
    gate.tick(DWELL);
    expect([gate.left, gate.seen], 'reached; only what was seen is said').toEqual([[], [MANY + 1]]);
  });

  it('never counts parts that it does not know or a change without must', () => {
    const gate = make({ 1: ['a'], 2: ['b'] }, [2]);
    gate.show('other', 0, 21, 21, 0);
    gate.show('a', 0, 21, 21, 0);
    gate.tick(DWELL);
    expect([gate.left, gate.seen], 'additions need not be seen, but are told').toEqual([[2], [1]]);
  });
});

describe('main button', () => {
  const facts: Facts = { state: 'pending', stale: false, outside: false, heavy: true, unseen: 0, foldedFlags: 0, flagged: 0, edits: 0, checking: false, refused: false, sending: false };
  it.each<[string, Partial<Facts>, string]>([
    ['approves when nothing stands in its way', {}, 'approve'], ['walks to unseen changes first', { unseen: 2 }, 'next'], ['unfolds notices', { foldedFlags: 1 }, 'flags'], ['waits for a check', { checking: true, unseen: 2 }, 'checking'],
    ['is refused with the edit', { refused: true }, 'refused'], ['compares a stale card', { stale: true, unseen: 2 }, 'compare'], ['sends once', { sending: true }, 'sending'], ['writes', { state: 'executing' }, 'sending'],
    ['is gone when done', { state: 'done' }, 'none'], ['is gone when rejected', { state: 'rejected' }, 'none'], ['is gone when void', { state: 'void' }, 'none'], ['is gone when unknown', { state: 'unknown' }, 'none'], ['is gone when replaced', { state: 'replaced' }, 'none'], ['is gone when failed', { state: 'failed' }, 'none'],
    ['asks no light card for anything', { heavy: false, unseen: 2, foldedFlags: 3 }, 'approve'],
  ])('%s', (_what, change, kind) => {
    expect(mainAction({ ...facts, ...change }).kind, 'one action').toBe(kind);
  });
});

describe('mends', () => {
  const content = '# Report\nTotal: 171,177.00\nSpending rose 12.4 % compared with last year. Rent is 3.5 of it.\n- Up 9 % since May.\n同比上升 8%。另有 3 张。\n';
  const at = (text: string, line: number, differs = false) => ({ text, place: String(line), kept: false, verdict: differs ? ({ verdict: 'differs', computed: '171717.00', source: 's' } as const) : ({ verdict: 'unsourced' } as const) });

  it('put the computed value in place, in the same manner', () => {
    expect(useComputed(content, at('171,177.00', 2, true)), 'one figure on one line').toBe(content.replace('171,177.00', '171,717.00'));
    expect(useComputed(content, at('12.4 %', 3)), 'no computed value, no mend').toBeNull();
    expect(useComputed(content, at('999', 2, true)), 'not there, no mend').toBeNull();
  });

  it('take out the sentence and leave the rest', () => {
    expect(removeSentence(content, at('12.4 %', 3))?.split('\n')[2], 'the other sentence stays, with its decimal point').toBe('Rent is 3.5 of it.');
    expect(removeSentence(content, at('9 %', 4))?.split('\n')[3], 'an empty list item goes as a line').toBe('同比上升 8%。另有 3 张。');
    expect(removeSentence(content, at('8%', 5))?.split('\n')[4], 'Chinese full stops').toBe('另有 3 张。');
    expect(removeSentence(content, { ...at('8%', 5), place: 'Sheet1!A1' }), 'cells are edited in the arguments').toBeNull();
  });
});

describe('arguments', () => {
  it('are compared by value', () => {
    expect(same({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), 'equal').toBe(true);
    expect(same({ a: 1, b: 2 }, { b: 2, a: 1 }), 'order of keys is no difference').toBe(true);
    expect(same([1, 2], [2, 1]), 'order of items is').toBe(false);
    expect(same({ a: 1 }, { a: 1, b: undefined }), 'another key is').toBe(false);
    expect(editedFields({ path: 'a', content: 'x' }, { path: 'b', content: 'x', chart: {} }), 'changed and new fields').toEqual(['path', 'chart']);
  });

  it('are sheets when they look like sheets, and one cell changes alone', () => {
    const sheets = [{ name: 'a', rows: [['x', 1], [null, true]] }];
    expect(sheetsOf(sheets), 'a grid').toBe(sheets);
    expect([sheetsOf([]), sheetsOf([{ name: 'a', rows: [[{}]] }]), sheetsOf('x'), sheetsOf([{ name: 'a', rows: Array.from({ length: 1501 }, () => ['x']) }])], 'anything else, or too many cells, is JSON').toEqual([null, null, null, null]);
    expect(withCell(sheets, { sheet: 0, row: 0, column: 1 }, 2)[0]!.rows, 'only that cell').toEqual([['x', 2], [null, true]]);
    expect([cellValue(1, '2.50'), cellValue(1, 'x'), cellValue('1', '2'), cellValue(null, ''), cellValue('a', ''), cellValue(true, 'false')], 'kinds are kept where the text allows').toEqual([2.5, 'x', '2', null, '', false]);
  });

  it('are edited by their kind', () => {
    const schema = { properties: { path: { type: 'string' }, content: { type: 'string' }, sheets: { type: 'array' }, limit: { type: 'integer' }, deep: { type: 'boolean' } } };
    expect(['path', 'content', 'sheets', 'limit', 'deep'].map((name) => kindOf(schema, name, { path: 'a.md', content: 'x', sheets: [], limit: 3, deep: true }[name])), 'kinds').toEqual(['line', 'text', 'json', 'number', 'boolean']);
    expect(namesOf(schema, { content: 1, path: 1, extra: 1 }, {}), 'order of the schema, then the rest').toEqual(['path', 'content', 'extra']);
    expect([read('json', '[1'), read('json', '[1]'), read('number', 'x'), read('number', '3'), read('text', '{')], 'what cannot be read is not sent').toEqual([undefined, [1], undefined, 3, '{']);
  });
});
