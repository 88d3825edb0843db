/** Where the window is: one of the places, and what is open there. Kept in the address, so that a reload comes back to it. */

export type Place = 'inbox' | 'tasks' | 'files' | 'automations' | 'memory' | 'settings';
export const PLACES: readonly Place[] = ['inbox', 'tasks', 'files', 'automations', 'memory', 'settings'];

/** Place and the id, path or section within it; empty for the place itself. */
export type Spot = { place: Place; item: string };

export function parseSpot(hash: string): Spot | null {
  const [place = '', ...rest] = hash.replace(/^#\/?/, '').split('/');
  if (!isPlace(place)) return null;
  return { place, item: rest.map(decode).join('/') };
}

export function printSpot(spot: Spot): string {
  const item = spot.item === '' ? '' : `/${spot.item.split('/').map(encodeURIComponent).join('/')}`;
  return `#/${spot.place}${item}`;
}

function isPlace(text: string): text is Place {
  return (PLACES as readonly string[]).includes(text);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export class RouteState {
  #spot = $state<Spot>({ place: 'tasks', item: '' });
  /** A goal that waits in the composer, such as "About the file …". */
  draft = $state('');
  /** Goes up when the composer should take the focus. */
  compose = $state(0);

  /** Says whether something here would be left unsaved; then leaving asks first. */
  hold: (() => boolean) | null = null;
  /** Where the person wants to go while something is unsaved. */
  leaving = $state.raw<Spot | null>(null);

  constructor() {
    this.#spot = parseSpot(location.hash) ?? { place: 'tasks', item: '' };
  }

  get place(): Place {
    return this.#spot.place;
  }

  get item(): string {
    return this.#spot.item;
  }

  /** Follows the back button of the window. */
  readonly follow = (): void => {
    const spot = parseSpot(location.hash);
    if (!spot || printSpot(spot) === printSpot(this.#spot)) return;
    if (this.hold?.()) {
      history.pushState(null, '', printSpot(this.#spot));
      this.leaving = spot;
    } else this.#spot = spot;
  };

  go(place: Place, item = ''): void {
    if (this.#spot.place === place && this.#spot.item === item) return;
    if (this.hold?.()) {
      this.leaving = { place, item };
      return;
    }
    this.#spot = { place, item };
    history.pushState(null, '', printSpot(this.#spot));
  }

  /** Goes where the person wanted to go, now that it is said what becomes of the unsaved text. */
  leave(): void {
    const spot = this.leaving;
    this.leaving = null;
    this.hold = null;
    if (spot) this.go(spot.place, spot.item);
  }

  stay(): void {
    this.leaving = null;
  }

  /** Opens the composer, with a goal to begin from if wished. */
  newTask(draft = ''): void {
    if (draft !== '') this.draft = draft;
    this.go('tasks');
    this.compose += 1;
  }
}
