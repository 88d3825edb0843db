/** Tells a gate what the browser has on screen, by `IntersectionObserver`. */
import type { Attachment } from 'svelte/attachments';
import type { Watcher } from '../../shared/difference/observe';
import type { SeenGate } from './seen-gate';

const EVERY = 100;
const THRESHOLDS = Array.from({ length: 51 }, (_, index) => index / 50);

/** Parts of the scroller that something else covers, in pixels. */
export type Inset = { top: number; left: number };

/** Watches rows inside one scroller until it is closed. */
export class Screen implements Watcher {
  private readonly names = new Map<Element, string>();
  private readonly rows: IntersectionObserver;
  private readonly frame: IntersectionObserver;
  private readonly timer: ReturnType<typeof setInterval>;
  private framed = true;

  constructor(
    private readonly root: HTMLElement,
    private readonly gate: SeenGate,
    private readonly changed: () => void,
    inset: Inset = { top: 0, left: 0 },
  ) {
    this.rows = new IntersectionObserver((entries) => this.look(entries), {
      root,
      rootMargin: `-${Math.ceil(inset.top)}px 0px 0px -${Math.ceil(inset.left)}px`,
      threshold: THRESHOLDS,
    });
    // The list itself must be on screen, or its rows are not.
    this.frame = new IntersectionObserver(
      (entries) => {
        const last = entries.at(-1);
        if (last) this.framed = last.intersectionRatio > 0.98;
        this.breathe();
      },
      { threshold: [0, 0.5, 0.98, 1] },
    );
    this.frame.observe(root);
    this.timer = setInterval(() => this.beat(), EVERY);
    document.addEventListener('visibilitychange', this.breathe);
    root.addEventListener('scrollend', this.again);
  }

  /** Marks an element as the unit of that name. */
  unit(name: string): Attachment<HTMLElement> {
    return (node) => {
      this.names.set(node, name);
      this.rows.observe(node);
      return () => {
        this.gate.hide(name, performance.now());
        this.names.delete(node);
        this.rows.unobserve(node);
      };
    };
  }

  seen(name: string): boolean {
    return this.gate.hasUnit(name);
  }

  close(): void {
    clearInterval(this.timer);
    this.rows.disconnect();
    this.frame.disconnect();
    document.removeEventListener('visibilitychange', this.breathe);
    this.root.removeEventListener('scrollend', this.again);
    const now = performance.now();
    for (const name of this.names.values()) this.gate.hide(name, now);
    this.names.clear();
  }

  private look(entries: IntersectionObserverEntry[]): void {
    const now = performance.now();
    for (const entry of entries) {
      const name = this.names.get(entry.target);
      if (name === undefined) continue;
      const box = entry.boundingClientRect;
      const part = entry.intersectionRect;
      // A cell that is cut off at the side is not on screen, however tall the visible part is.
      const whole = part.width >= box.width - 2;
      if (!entry.isIntersecting || !whole) this.gate.hide(name, now);
      else this.gate.show(name, part.top - box.top, part.bottom - box.top, box.height, now);
    }
  }

  private readonly breathe = (): void => {
    this.gate.pause(document.hidden || !this.framed, performance.now());
  };

  /** Long rows move between thresholds; after a scroll they are measured anew. */
  private readonly again = (): void => {
    for (const node of this.names.keys()) {
      if (node.clientHeight < this.root.clientHeight) continue;
      this.rows.unobserve(node);
      this.rows.observe(node);
    }
  };

  private beat(): void {
    if (this.gate.tick(performance.now())) this.changed();
  }
}
