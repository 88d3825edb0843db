import { describe, expect, it } from 'vitest';
import { chord, composing, typing } from './keys';

const press = (key: string, more: KeyboardEventInit = {}) => new KeyboardEvent('keydown', { key, ...more });

describe('keys', () => {
  it.each([
    ['j', {}, 'j'], ['J', { shiftKey: true }, 'Shift+j'], ['Enter', { ctrlKey: true }, 'Ctrl+Enter'], ['Enter', { metaKey: true }, 'Ctrl+Enter'], ['F7', { shiftKey: true }, 'Shift+F7'],
    ['?', { shiftKey: true }, '?'], ['L', { ctrlKey: true, shiftKey: true }, 'Ctrl+Shift+l'], [' ', {}, 'Space'], ['+', { ctrlKey: true, shiftKey: true }, 'Ctrl++'], [']', {}, ']'],
  ])('names %s %o as %s', (key, more, wanted) => {
    expect(chord(press(key, more)), 'a chord has one name').toBe(wanted);
  });

  it('sees an input method at work', () => {
    expect(composing(press('Enter', { isComposing: true })), 'composing').toBe(true);
    expect(composing(press('Enter', { keyCode: 229 })), 'the old sign of it').toBe(true);
    expect(composing(press('Enter')), 'a plain key').toBe(false);
  });

  it('knows fields', () => {
    const field = document.createElement('textarea');
    document.body.append(field);
    let seen = false;
    field.addEventListener('keydown', (event) => (seen = typing(event)));
    field.dispatchEvent(press('e', { bubbles: true }));
    expect(seen, 'a key in a field is text').toBe(true);
    field.remove();
  });
});
