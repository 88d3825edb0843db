/** The tree of the workspace and the file that is shown. Folders are read when they are opened, a page at a time. */
import { errorView, type Backend } from '../api/client';
import type { EntryView } from '../api/generated/EntryView';
import type { ErrorView } from '../api/generated/ErrorView';
import type { PreviewView } from '../api/generated/PreviewView';
import type { WatchState } from '../api/generated/WatchState';

const PAGE = 200;

/** A row of the tree. */
export type TreeRow =
  | { type: 'entry'; entry: EntryView; depth: number; open: boolean; position: number; size: number }
  | { type: 'more'; folder: string; depth: number; shown: number; total: number };

type Folder = { entries: EntryView[]; total: number };

export class FilesState {
  folders = $state.raw<ReadonlyMap<string, Folder>>(new Map());
  open = $state.raw<ReadonlySet<string>>(new Set());
  failure = $state.raw<ErrorView | null>(null);
  filter = $state('');
  preview = $state.raw<PreviewView | null>(null);
  previewFailure = $state.raw<ErrorView | null>(null);
  previewing = $state(false);
  /** The file that is shown is another one on disk by now. */
  previewChanged = $state(false);
  /** How the folder is followed; `null` until it is known. */
  watch = $state<WatchState | null>(null);
  /** Row that the arrow keys move over. */
  active = $state('');

  readonly rows = $derived(this.flatten());
  readonly loaded = $derived(this.folders.has(''));
  readonly empty = $derived(this.folders.get('')?.total === 0);

  private workspace: string | null = null;
  private wanted = 0;

  constructor(private readonly api: Backend) {}

  async use(workspace: string): Promise<void> {
    if (this.workspace === workspace && this.loaded) return;
    this.workspace = workspace;
    this.folders = new Map();
    this.open = new Set();
    this.filter = '';
    this.active = '';
    this.preview = null;
    this.previewFailure = null;
    this.previewChanged = false;
    this.watch = null;
    await this.read('');
  }

  /** Reads every folder that is open again. */
  async reload(): Promise<void> {
    await Promise.all(['', ...this.open].filter((path) => this.folders.has(path)).map((path) => this.read(path)));
  }

  /** Something changed on disk. Only folders that are drawn are read again; selection and scroll stay as they are. */
  async diskChanged(workspace: string, paths: readonly string[], everything: boolean): Promise<void> {
    if (workspace !== this.workspace) return;
    const shown = this.preview?.path;
    const before = shown === undefined ? null : this.entryOf(shown);
    if (everything) await this.reload();
    else {
      const folders = new Set(paths.flatMap((path) => [path.slice(0, Math.max(0, path.lastIndexOf('/'))), path]));
      await Promise.all([...folders].filter((path) => this.folders.has(path)).map((path) => this.read(path)));
    }
    if (shown === undefined || this.preview?.path !== shown) return;
    const after = this.entryOf(shown);
    const touched = paths.some((path) => path === shown || shown.startsWith(`${path}/`));
    if (touched || (everything && (before?.modified !== after?.modified || before?.size !== after?.size))) this.previewChanged = true;
  }

  private entryOf(path: string): EntryView | null {
    const folder = this.folders.get(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    return folder?.entries.find((entry) => entry.path === path) ?? null;
  }

  /** Folder to which added files go: the one whose row was last used, or that of the file. */
  get target(): string {
    const entry = this.entryOf(this.active);
    if (!entry) return '';
    return entry.folder ? entry.path : entry.path.slice(0, Math.max(0, entry.path.lastIndexOf('/')));
  }

  async toggle(path: string): Promise<void> {
    const next = new Set(this.open);
    if (next.delete(path)) {
      this.open = next;
      return;
    }
    this.open = next.add(path);
    if (!this.folders.has(path)) await this.read(path);
  }

  /** Reads the next page of a folder. */
  async more(path: string): Promise<void> {
    await this.read(path, this.folders.get(path)?.entries.length ?? 0);
  }

  /** Opens the folders above a path, so that its row is there. */
  async reveal(path: string): Promise<void> {
    const parts = path.split('/').slice(0, -1);
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const folder = parts.slice(0, depth).join('/');
      if (!this.open.has(folder)) await this.toggle(folder);
    }
  }

  async show(path: string, sheet: string | null = null): Promise<void> {
    if (this.workspace === null) return;
    this.wanted += 1;
    const mine = this.wanted;
    this.previewing = true;
    this.previewFailure = null;
    this.previewChanged = false;
    if (this.preview?.path !== path) this.preview = null;
    try {
      const preview = await this.api.call('file_preview', { workspace: this.workspace, path, sheet });
      if (mine === this.wanted) this.preview = preview;
    } catch (thrown) {
      if (mine === this.wanted) {
        this.preview = null;
        this.previewFailure = errorView(thrown);
      }
    } finally {
      if (mine === this.wanted) this.previewing = false;
    }
  }

  private async read(path: string, offset = 0): Promise<void> {
    const workspace = this.workspace;
    if (workspace === null) return;
    try {
      const limit = offset === 0 ? Math.max(PAGE, this.folders.get(path)?.entries.length ?? 0) : PAGE;
      const page = await this.api.call('files_list', { workspace, path, offset, limit });
      if (this.workspace !== workspace) return;
      const before = offset === 0 ? [] : (this.folders.get(path)?.entries.slice(0, offset) ?? []);
      this.folders = new Map(this.folders).set(path, { entries: [...before, ...page.entries], total: page.total });
      this.failure = null;
    } catch (thrown) {
      if (this.workspace === workspace) this.failure = errorView(thrown);
    }
  }

  private flatten(): TreeRow[] {
    const out: TreeRow[] = [];
    this.walk('', 0, out);
    return out;
  }

  private walk(path: string, depth: number, out: TreeRow[]): void {
    const folder = this.folders.get(path);
    if (!folder) return;
    const wanted = this.filter.trim().toLowerCase();
    folder.entries.forEach((entry, index) => {
      const open = entry.folder && this.open.has(entry.path);
      const own: TreeRow = { type: 'entry', entry, depth, open, position: index + 1, size: folder.total };
      const below: TreeRow[] = [];
      if (open) this.walk(entry.path, depth + 1, below);
      if (wanted === '' || entry.name.toLowerCase().includes(wanted) || below.length > 0) out.push(own, ...below);
    });
    if (folder.entries.length < folder.total) out.push({ type: 'more', folder: path, depth, shown: folder.entries.length, total: folder.total });
  }
}
