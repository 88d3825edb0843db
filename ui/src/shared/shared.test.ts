import { describe, expect, it } from 'vitest';
import { Heights } from './heights';
import { rendered } from './markdown';

// The second layer, DOMPurify, needs a real browser: e2e/markdown.spec.ts.
describe('formatted text', () => {
  it.each([
    ['an image', '![x](https://evil.example/a.png)', /<img/i],
    ['html', '<img src=x onerror=alert(1)><script>alert(1)</script><iframe src="https://evil.example"></iframe>', /<(img|script|iframe)/i],
    ['a link', '[click](https://evil.example/?q=secret)', /<a\b|href=/i],
    ['a script link', '[click](javascript:alert(1))', /<a\b|href=/i],
    ['a bare address', 'see https://evil.example/x', /<a\b|href=/i],
    ['a style', '<p style="position:fixed">x</p>', /<[^>]*style=/i],
    ['a form', '<form action="https://evil.example"><input name=a></form>', /<(form|input)/i],
    ['a refresh', '<meta http-equiv="refresh" content="0;url=https://evil.example">', /<meta/i],
    ['svg', '<svg><use href="https://evil.example#x"/></svg>', /<(svg|use)/i],
    ['a table attribute', '| a |\n| :-: |\n| b |', /align=|style=/i],
  ])('never lets %s act', (_what, text, forbidden) => {
    expect(rendered(text), 'nothing can load, send or be clicked').not.toMatch(forbidden);
  });

  it('keeps plain formatting and shows where a link would have gone', () => {
    expect(rendered('**a** `b`'), 'bold and code').toBe('<p><strong>a</strong> <code>b</code></p>\n');
    expect(rendered('[words](https://example.test/x)'), 'the address is text').toContain('<code>https://example.test/x</code>');
    expect(rendered('| a |\n| - |\n| 1 |'), 'tables').toContain('<td>1</td>');
    expect(rendered('a < b & c'), 'signs stay signs').toContain('a &lt; b &amp; c');
  });
});

describe('heights', () => {
  it('finds the row at a place, also after rows told their real height', () => {
    const heights = new Heights(10_000, 20);
    expect(heights.total, 'estimated').toBe(200_000);
    expect(heights.at(0), 'first').toBe(0);
    expect(heights.at(199_999), 'last').toBe(9_999);
    expect(heights.set(10, 120), 'a change').toBe(true);
    expect(heights.set(10, 120), 'no change').toBe(false);
    expect(heights.offset(10), 'rows above are as before').toBe(200);
    expect(heights.offset(11), 'rows below moved').toBe(320);
    expect([heights.at(199), heights.at(200), heights.at(319), heights.at(320)], 'edges').toEqual([9, 10, 10, 11]);
    expect(heights.total, 'the sum followed').toBe(200_100);
  });

  it('agrees with adding up, for any heights', () => {
    let seed = 7;
    const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
    const heights = new Heights(300, 21);
    const plain = new Array<number>(300).fill(21);
    for (let turn = 0; turn < 200; turn += 1) {
      const index = Math.floor(random() * 300);
      plain[index] = 10 + Math.floor(random() * 200);
      heights.set(index, plain[index]!);
    }
    let sum = 0;
    for (let index = 0; index < 300; index += 1) {
      expect(heights.offset(index), `above row ${index}`).toBeCloseTo(sum);
      expect(heights.at(sum), `row at ${sum}`).toBe(index);
      sum += plain[index]!;
    }
  });

  it('is content with nothing', () => {
    const none = new Heights(0, 20);
    expect([none.total, none.at(50), none.offset(3)], 'an empty list').toEqual([0, 0, 0]);
  });
});
