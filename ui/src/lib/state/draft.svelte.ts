/** Text that a person is writing. It survives a reload of the window until it is saved or thrown away. */
import { forget, recall, remember } from './local';

export class Draft {
  /** True while somebody writes. */
  active = $state(false);
  text = $state('');
  /** Digest of what the text began from; `null` for something new. */
  base = $state<string | null>(null);
  private original = '';
  private key = '';

  /** Begins to write, from where it was left off if there was a draft. */
  begin(key: string, text: string, base: string | null): void {
    const kept = Draft.kept(key);
    this.key = key;
    this.original = text;
    this.text = kept?.text ?? text;
    this.base = kept ? kept.base : base;
    this.active = true;
  }

  /** True when a draft of that key is kept. */
  static has(key: string): boolean {
    return Draft.kept(key) !== null;
  }

  get dirty(): boolean {
    return this.active && this.text !== this.original;
  }

  write(text: string): void {
    this.text = text;
    if (this.dirty) remember(this.key, JSON.stringify({ text, base: this.base }));
    else forget(this.key);
  }

  /** The person has seen what stands there now: the next save goes over that. */
  rebase(base: string | null): void {
    this.base = base;
    if (this.dirty) remember(this.key, JSON.stringify({ text: this.text, base }));
  }

  /** Stops writing; what was kept is gone. */
  end(): void {
    forget(this.key);
    this.active = false;
    this.text = '';
  }

  /** Stops writing; the draft is kept. */
  leave(): void {
    this.active = false;
  }

  private static kept(key: string): { text: string; base: string | null } | null {
    try {
      const value: unknown = JSON.parse(recall(key) ?? 'null');
      if (typeof value !== 'object' || value === null || !('text' in value) || typeof value.text !== 'string') return null;
      return { text: value.text, base: 'base' in value && typeof value.base === 'string' ? value.base : null };
    } catch {
      return null;
    }
  }
}
