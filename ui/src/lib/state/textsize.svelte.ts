/** The person's text size, 90 to 150 percent. Everything is measured in it. */
import { recall, remember } from './local';

const KEY = 'pilot.textsize';
const BASE = 14;
export const SIZES = [90, 100, 110, 125, 150] as const;

export class TextSizeState {
  percent = $state(100);

  constructor() {
    const kept = Number(recall(KEY));
    if ((SIZES as readonly number[]).includes(kept)) this.percent = kept;
  }

  step(by: 1 | -1): void {
    const at = (SIZES as readonly number[]).indexOf(this.percent);
    this.set(SIZES[Math.min(SIZES.length - 1, Math.max(0, at + by))] ?? 100);
  }

  set(percent: number): void {
    this.percent = percent;
    remember(KEY, String(percent));
  }

  /** Pixels of one rem. */
  get pixels(): number {
    return (BASE * this.percent) / 100;
  }
}
