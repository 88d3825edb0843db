/** Runs a fetch soon after it was asked for: many askings make one run, and one that comes during a run makes one more. */
export class Coalesced {
  private timer: ReturnType<typeof setTimeout> | null = null;
  private running = false;
  private again = false;

  constructor(
    private readonly run: () => Promise<void>,
    private readonly delay = 40,
  ) {}

  ask(): void {
    if (this.running) {
      this.again = true;
      return;
    }
    this.timer ??= setTimeout(() => void this.start(), this.delay);
  }

  private async start(): Promise<void> {
    this.timer = null;
    this.running = true;
    try {
      await this.run();
    } finally {
      this.running = false;
      if (this.again) {
        this.again = false;
        this.ask();
      }
    }
  }
}
