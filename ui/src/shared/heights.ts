/** Heights of very many rows: estimated until measured, with sums in logarithmic time (a Fenwick tree). */
export class Heights {
  private readonly tree: Float64Array;
  private readonly own: Float64Array;
  total: number;

  constructor(
    readonly count: number,
    estimate: number,
  ) {
    this.own = new Float64Array(count).fill(estimate);
    this.tree = new Float64Array(count + 1);
    for (let index = 1; index <= count; index += 1) {
      this.tree[index] = (this.tree[index] ?? 0) + estimate;
      const parent = index + (index & -index);
      if (parent <= count) this.tree[parent] = (this.tree[parent] ?? 0) + (this.tree[index] ?? 0);
    }
    this.total = count * estimate;
  }

  /** Sets a measured height; false when it was that already. */
  set(index: number, height: number): boolean {
    const difference = height - (this.own[index] ?? height);
    if (index < 0 || index >= this.count || Math.abs(difference) < 0.5 || height <= 0) return false;
    this.own[index] = height;
    this.total += difference;
    for (let at = index + 1; at <= this.count; at += at & -at) this.tree[at] = (this.tree[at] ?? 0) + difference;
    return true;
  }

  /** Pixels above a row. */
  offset(index: number): number {
    let sum = 0;
    for (let at = Math.min(index, this.count); at > 0; at -= at & -at) sum += this.tree[at] ?? 0;
    return sum;
  }

  /** Row at that many pixels from the top. */
  at(pixels: number): number {
    let index = 0;
    let left = pixels;
    for (let step = 1 << Math.floor(Math.log2(Math.max(1, this.count))); step > 0; step >>= 1) {
      const next = index + step;
      const sum = this.tree[next] ?? Number.POSITIVE_INFINITY;
      if (next <= this.count && sum <= left) {
        index = next;
        left -= sum;
      }
    }
    return Math.min(index, Math.max(0, this.count - 1));
  }
}
