/** Words about text itself: its language, its hidden characters, its pieces. */

const HAN = /\p{Script=Han}/u;

/** Language of a run of foreign text, for fonts and for the voice of a screen reader. */
export function langOf(text: string): 'zh-CN' | 'en' {
  return HAN.test(text) ? 'zh-CN' : 'en';
}

/** A piece of text, or the name of a character that could not be seen. */
export type Piece = { text: string; hidden: boolean };

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu;

/** Splits text so that each invisible or control character can be drawn as a box. Line feed and tab stay as they are. */
export function pieces(text: string): Piece[] {
  const out: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match[0] === '\n' || match[0] === '\t') continue;
    if (match.index > from) out.push({ text: text.slice(from, match.index), hidden: false });
    out.push({ text: codePoint(match[0]), hidden: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) out.push({ text: text.slice(from), hidden: false });
  return out;
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The first and last bytes of a fingerprint, in groups of four, as a person compares them. */
export function shortDigest(hex: string): string {
  if (hex.length < 16) return hex;
  return `${hex.slice(0, 4)} ${hex.slice(4, 8)} … ${hex.slice(-4)}`;
}

/** Name of a file without its folders. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Folder part of a path with its slash; empty at the root. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** The first line of a goal, for titles; the whole goal stands in the task. */
export function titleOf(goal: string): string {
  return goal.trim().split('\n')[0] ?? '';
}
