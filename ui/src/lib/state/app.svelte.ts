/** State of the whole program: workspaces, providers, settings, and which workspace the window looks at. */
import { errorView, type Backend } from '../api/client';
import type { AppView } from '../api/generated/AppView';
import type { ErrorView } from '../api/generated/ErrorView';
import type { ProviderView } from '../api/generated/ProviderView';
import type { SettingsView } from '../api/generated/SettingsView';
import type { WorkspaceView } from '../api/generated/WorkspaceView';
import { locale, type Language } from '../i18n/index.svelte';
import { recall, remember } from './local';

const CHOSEN = 'pilot.workspace';
export const OFFLINE = 'offline';

export type Theme = 'light' | 'dark';

export class AppState {
  view = $state.raw<AppView | null>(null);
  failure = $state.raw<ErrorView | null>(null);
  private chosen = $state<string | null>(recall(CHOSEN));
  private systemDark = $state(false);

  readonly workspaces = $derived<WorkspaceView[]>(this.view?.workspaces ?? []);
  readonly workspace = $derived<WorkspaceView | null>(this.workspaces.find((one) => one.id === this.chosen) ?? this.workspaces[0] ?? null);
  readonly providers = $derived<ProviderView[]>(this.view?.providers ?? []);
  readonly provider = $derived<ProviderView | null>(this.providers.find((one) => one.name === this.workspace?.provider) ?? null);
  readonly theme = $derived<Theme>(this.resolveTheme());

  constructor(private readonly api: Backend) {
    const dark = typeof matchMedia === 'function' ? matchMedia('(prefers-color-scheme: dark)') : null;
    this.systemDark = dark?.matches ?? false;
    dark?.addEventListener('change', (event) => (this.systemDark = event.matches));
    locale.language = navigator.language.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
  }

  async load(): Promise<void> {
    try {
      this.take(await this.api.call('app_state'));
      this.failure = null;
    } catch (thrown) {
      this.failure = errorView(thrown);
    }
  }

  /** Takes a fresh state, also one that a command returned. */
  take(view: AppView): void {
    this.view = view;
    locale.language = languageOf(view);
  }

  choose(workspace: WorkspaceView): void {
    this.chosen = workspace.id;
    remember(CHOSEN, workspace.id);
    if (this.view && !this.view.workspaces.some((one) => one.id === workspace.id)) {
      this.view = { ...this.view, workspaces: [workspace, ...this.view.workspaces] };
    }
  }

  async save(change: Partial<SettingsView>): Promise<void> {
    if (!this.view) return;
    const before = this.view;
    const settings = { ...before.settings, ...change };
    // Shown at once; put back if the core refuses.
    this.take({ ...before, settings });
    try {
      this.take(await this.api.call('settings_save', settings));
    } catch (thrown) {
      this.take(before);
      throw thrown;
    }
  }

  /** Chooses who does the thinking in a workspace, by default the one that is shown. */
  async useProvider(name: string, workspace = this.workspace?.id): Promise<void> {
    if (workspace === undefined) return;
    const changed = await this.api.call('workspace_set_provider', { id: workspace, provider: name });
    if (this.view) this.view = { ...this.view, workspaces: this.view.workspaces.map((one) => (one.id === changed.id ? changed : one)) };
  }

  /** Name of a provider for people. */
  providerOf(name: string): ProviderView | null {
    return this.providers.find((one) => one.name === name) ?? null;
  }

  private resolveTheme(): Theme {
    const chosen = this.view?.settings.theme ?? 'system';
    if (chosen !== 'system') return chosen;
    return this.systemDark ? 'dark' : 'light';
  }
}

function languageOf(view: AppView): Language {
  const chosen = view.settings.language === 'system' ? view.system_language : view.settings.language;
  return chosen === 'zh-CN' ? 'zh-CN' : 'en';
}

/** Host of an address, for words; the address itself when it has none. */
export function hostOf(url: string | null): string {
  if (url === null) return '';
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}
