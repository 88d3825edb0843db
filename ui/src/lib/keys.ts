/** Reading keys: chords by name, and when a key may not mean anything. */

/** The chord of a key press, such as `Ctrl+Enter`, `Shift+F7` or `j`. Cmd counts as Ctrl. */
export function chord(event: KeyboardEvent): string {
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push('Ctrl');
  if (event.altKey) parts.push('Alt');
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  // A printed sign such as "?" already holds its Shift.
  if (event.shiftKey && (event.key.length > 1 || /[a-z0-9]/i.test(event.key))) parts.push('Shift');
  parts.push(key === ' ' ? 'Space' : key);
  return parts.join('+');
}

/** True while an input method is choosing characters: then no key decides anything. */
export function composing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** True when a field has the focus, so that a single key is text. */
export function typing(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

/** True when a dialog or menu is open and keeps its keys. */
export function dialogOpen(): boolean {
  return document.querySelector('dialog[open], [role="menu"]') !== null;
}
