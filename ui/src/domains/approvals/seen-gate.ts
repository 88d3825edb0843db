/** What has been on screen long enough. Pure: the clock and the screen are told to it. */

/** Milliseconds for which a part must stand fully on screen. */
export const DWELL = 400;
/** Above this many changes it is enough to reach the end of the list. The core holds an approval to the same number. */
export const MANY = 60;

type Visible = { from: number; to: number; height: number; since: number };
type Covered = { from: number; to: number }[];

/**
 * Collects which units were fully on screen for `DWELL`. A unit taller than the screen counts when all its parts were,
 * each for that long. A change is seen when all its units are.
 */
export class SeenGate {
  private readonly visible = new Map<string, Visible>();
  private readonly covered = new Map<string, Covered>();
  private readonly seenUnits = new Set<string>();
  private readonly seenChanges = new Set<number>();
  private readonly changeOf = new Map<string, number>();
  private readonly missing = new Map<number, number>();
  private paused = false;

  /** `units` names the parts of every change, `mustSee` the changes that the card asks for. */
  constructor(
    units: ReadonlyMap<number, readonly string[]>,
    readonly mustSee: readonly number[],
  ) {
    for (const [change, names] of units) {
      this.missing.set(change, names.length);
      for (const name of names) this.changeOf.set(name, change);
    }
  }

  /** Changes seen so far, in order. */
  get seen(): number[] {
    return [...this.seenChanges].sort((a, b) => a - b);
  }

  has(change: number): boolean {
    return this.seenChanges.has(change);
  }

  /** True when that unit was seen. */
  hasUnit(unit: string): boolean {
    return this.seenUnits.has(unit);
  }

  /** Changes that must still be seen, in order. Of very many, the last one stands for all. */
  get left(): number[] {
    const must = this.mustSee.length > MANY ? this.mustSee.slice(-1) : this.mustSee;
    return must.filter((change) => !this.seenChanges.has(change));
  }

  /** The part from `from` to `to` of a unit of this height is on screen now. An empty part takes it off the screen. */
  show(unit: string, from: number, to: number, height: number, now: number): void {
    if (this.seenUnits.has(unit)) return;
    if (to - from < 1) {
      this.hide(unit, now);
      return;
    }
    const before = this.visible.get(unit);
    if (before && Math.abs(before.from - from) < 2 && Math.abs(before.to - to) < 2 && before.height === height) return;
    if (before) this.settle(unit, before, now);
    this.visible.set(unit, { from, to, height, since: now });
  }

  /** The unit left the screen. */
  hide(unit: string, now: number): void {
    const before = this.visible.get(unit);
    if (!before) return;
    this.settle(unit, before, now);
    this.visible.delete(unit);
  }

  /** Nothing counts while paused (window hidden, list itself cut off); time begins anew afterwards. */
  pause(paused: boolean, now: number): void {
    if (paused === this.paused) return;
    if (paused) this.tick(now);
    this.paused = paused;
    for (const part of this.visible.values()) part.since = now;
  }

  /** Counts what has stood long enough. True when a change became seen. */
  tick(now: number): boolean {
    if (this.paused) return false;
    const before = this.seenChanges.size;
    for (const [unit, part] of [...this.visible]) this.settle(unit, part, now);
    return this.seenChanges.size > before;
  }

  private settle(unit: string, part: Visible, now: number): void {
    if (this.paused || this.seenUnits.has(unit) || now - part.since < DWELL) return;
    const union = merge([...(this.covered.get(unit) ?? []), { from: part.from, to: part.to }]);
    this.covered.set(unit, union);
    if (!union.some((one) => one.from <= 1 && one.to >= part.height - 1)) return;
    this.seenUnits.add(unit);
    this.visible.delete(unit);
    const change = this.changeOf.get(unit);
    if (change === undefined) return;
    const missing = (this.missing.get(change) ?? 1) - 1;
    this.missing.set(change, missing);
    if (missing <= 0) this.seenChanges.add(change);
  }
}

function merge(parts: Covered): Covered {
  const sorted = parts.slice().sort((a, b) => a.from - b.from);
  const out: Covered = [];
  for (const part of sorted) {
    const last = out.at(-1);
    if (last && part.from <= last.to + 1) last.to = Math.max(last.to, part.to);
    else out.push({ ...part });
  }
  return out;
}
