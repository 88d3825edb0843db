/** How a difference lets somebody else know what of it is on screen. */
import type { Attachment } from 'svelte/attachments';

/** Watches the parts inside one scroller. */
export interface Watcher {
  /** Makes an element the part of that name. */
  unit(name: string): Attachment<HTMLElement>;
  /** True when that part was on screen long enough. */
  seen(name: string): boolean;
  close(): void;
}

/** Begins to watch a scroller; `inset` is covered by sticky heads, in pixels. */
export type Observe = (root: HTMLElement, inset: { top: number; left: number }) => Watcher;
