/** Finding and trying models: known services, servers on this computer, and how a try came out. */
import { errorView, type Backend, type ProviderDraft } from '../../lib/api/client';
import type { LocalServerView } from '../../lib/api/generated/LocalServerView';
import type { PresetView } from '../../lib/api/generated/PresetView';
import type { ProviderTestView } from '../../lib/api/generated/ProviderTestView';

export class ModelSetup {
  presets = $state.raw<readonly PresetView[]>([]);
  /** Servers that answered; null before the first look is over. */
  found = $state.raw<readonly LocalServerView[] | null>(null);
  looking = $state(false);

  constructor(private readonly api: Backend) {}

  async loadPresets(): Promise<void> {
    this.presets = await this.api.call('provider_presets');
  }

  /** Looks for servers on this computer. */
  async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      this.found = await this.api.call('provider_detect');
    } catch {
      // Not finding any is no fault; what is broken is said where it matters.
      this.found = [];
    } finally {
      this.looking = false;
    }
  }
}

/** One try of one provider. */
export class Trial {
  running = $state(false);
  result = $state.raw<ProviderTestView | null>(null);

  constructor(private readonly api: Backend) {}

  async run(draft: ProviderDraft): Promise<void> {
    if (this.running) return;
    this.running = true;
    this.result = null;
    try {
      this.result = await this.api.call('provider_test', draft);
    } catch (thrown) {
      const { code, message } = errorView(thrown);
      this.result = { ok: false, code, message, subject: '', called_tool: false, models: [], millis: 0 };
    } finally {
      this.running = false;
    }
  }
}

/** A name that no provider has yet. */
export function freeName(wanted: string, taken: readonly string[]): string {
  if (!taken.includes(wanted)) return wanted;
  let number = 2;
  while (taken.includes(`${wanted} ${number}`)) number += 1;
  return `${wanted} ${number}`;
}
