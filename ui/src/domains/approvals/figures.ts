/** One-click mends of a flagged figure. Pure: they make new text, which then goes through the same re-check as any edit. */
import type { Figure } from '../../lib/api/generated/Figure';
import { inMannerOf } from '../../lib/format/numbers';
import { lineOf } from '../../shared/difference/lines';

/** Replaces the figure on its line; `null` when the text there is not what the card shows. */
export function useComputed(content: string, figure: Figure): string | null {
  if (figure.verdict.verdict !== 'differs') return null;
  const written = inMannerOf(figure.text, figure.verdict.computed);
  return onLine(content, figure, (line, at) => line.slice(0, at) + written + line.slice(at + figure.text.length));
}

const STOPS = '。！？!?；;';

/** Takes out the sentence that holds the figure, and the whole line when nothing but a list mark would stay. */
export function removeSentence(content: string, figure: Figure): string | null {
  return onLine(content, figure, (line, at) => {
    const end = at + figure.text.length;
    let from = at;
    while (from > 0 && !isStop(line, from - 1)) from -= 1;
    let to = end;
    while (to < line.length && !isStop(line, to)) to += 1;
    if (to < line.length) to += 1;
    const rest = `${line.slice(0, from)}${line.slice(to).replace(/^\s+/, from === 0 ? '' : ' ')}`.replace(/\s+$/, '');
    return /^\s*(?:[-*+]|\d+\.|>|#+)?\s*$/.test(rest) ? null : rest;
  });
}

/** A full stop that ends a sentence, not one inside a number. */
function isStop(line: string, at: number): boolean {
  const character = line[at] ?? '';
  if (STOPS.includes(character)) return true;
  return character === '.' && !/\d/.test(line[at + 1] ?? '');
}

/** `null` from `mend` takes out the whole line. */
function onLine(content: string, figure: Figure, mend: (line: string, at: number) => string | null): string | null {
  const number = lineOf(figure.place);
  if (number === null) return null;
  const lines = content.split('\n');
  const line = lines[number - 1];
  if (line === undefined) return null;
  const at = line.indexOf(figure.text);
  if (at < 0) return null;
  const mended = mend(line, at);
  lines.splice(number - 1, 1, ...(mended === null ? [] : [mended]));
  return lines.join('\n');
}
