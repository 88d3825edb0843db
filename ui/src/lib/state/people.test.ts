import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WindowEvent } from '../api/generated/WindowEvent';
import { openMemoryBackend, type MemoryBackend } from '../api/memory';
import { FilesState } from './files.svelte';
import { MAIN_PAGE, MemoryState, SkillsState } from './people.svelte';
import { Pilot } from './pilot.svelte';
import { RouteState } from './route.svelte';
import { UploadState } from './upload.svelte';

let api: MemoryBackend;
const fresh = async (query = '') => openMemoryBackend(new URLSearchParams(`speed=0&${query}`));
beforeEach(async () => {
  localStorage.clear();
  history.replaceState(null, '', '#/memory');
  api = await fresh();
});
afterEach(() => vi.useRealTimers());

describe('memory', () => {
  it('keeps a draft over a reload until it is saved', async () => {
    const memory = new MemoryState(api);
    await memory.use('ws-demo', MAIN_PAGE);
    memory.edit();
    memory.write('new words\n');
    expect(memory.draft.dirty, 'there is something to lose').toBe(true);

    const reloaded = new MemoryState(api);
    await reloaded.use('ws-demo', MAIN_PAGE);
    expect(reloaded.draft.text, 'the draft is there again').toBe('new words\n');
    expect(await reloaded.save(), 'and can be saved').toBe(true);
    expect(reloaded.view?.text, 'it stands there').toBe('new words\n');

    const again = new MemoryState(api);
    await again.use('ws-demo', MAIN_PAGE);
    expect(again.draft.active, 'a saved draft does not come back').toBe(false);
  });

  it('never saves over a page that changed, and loses nothing', async () => {
    const memory = new MemoryState(api);
    await memory.use('ws-demo', MAIN_PAGE);
    memory.edit();
    memory.write('mine\n');
    api.people.writeFromOutside('ws-demo', MAIN_PAGE, 'theirs\n');
    await memory.load();
    expect(memory.conflict, 'the conflict is seen').toBe(true);
    expect(memory.draft.text, 'the draft is kept').toBe('mine\n');
    expect(await memory.save(), 'saving is refused').toBe(false);
    expect(memory.saveFailure?.code, 'with its code').toBe('edit_conflict');
    expect(memory.view?.text, 'what is there stays').toBe('theirs\n');
    memory.draft.rebase(memory.view?.digest ?? null);
    expect(await memory.save(), 'once the person has seen it, it goes').toBe(true);
    expect(memory.view?.text, 'and stands there').toBe('mine\n');
  });

  it('measures what is being written', async () => {
    const memory = new MemoryState(api);
    await memory.use('ws-demo', MAIN_PAGE);
    memory.edit();
    memory.write('x'.repeat(9000));
    await vi.waitFor(() => expect(memory.measured?.bytes ?? 0, 'the draft is counted').toBeGreaterThan(8192));
    expect(memory.injection?.cut, 'and what would be cut is known before saving').not.toBe('');
    memory.discard();
    expect(memory.injection?.cut, 'thrown away, the saved page counts again').toBe('');
  });

  it('looks again only when memory changed', async () => {
    const memory = new MemoryState(api);
    await memory.use('ws-demo', MAIN_PAGE);
    const call = vi.spyOn(api, 'call');
    memory.changed('ws-demo', ['reports/a.md', 'memory-notes.md'], false);
    memory.changed('another', [MAIN_PAGE], false);
    await new Promise((done) => setTimeout(done, 250));
    expect(call, 'other files are not its business').not.toHaveBeenCalled();
    memory.changed('ws-demo', ['memory'], false);
    await vi.waitFor(() => expect(call.mock.calls.map(([name]) => name), 'its own are').toEqual(['memory_get']));
  });
});

describe('leaving', () => {
  it('asks while something is unsaved and goes on afterwards', () => {
    const route = new RouteState();
    let unsaved = true;
    route.hold = () => unsaved;
    route.go('inbox');
    expect([route.place, route.leaving?.place], 'still here, and asked').toEqual(['memory', 'inbox']);
    route.stay();
    expect([route.place, route.leaving], 'stayed').toEqual(['memory', null]);
    route.go('inbox');
    route.leave();
    expect(route.place, 'gone once the person said so').toBe('inbox');
    unsaved = false;
    route.hold = () => unsaved;
    route.go('files');
    expect(route.place, 'nothing unsaved, nothing asked').toBe('files');
  });
});

describe('skills', () => {
  it('says who hides whom and what is wrong', async () => {
    const skills = new SkillsState(api);
    await skills.use('ws-demo', '');
    const find = (id: string) => skills.list?.find((one) => one.id === id);
    expect(find('environment/quote-compare')?.shadowed_by, 'hidden').toBe('workspace');
    expect(find('workspace/quote-compare')?.hides, 'by this one').toEqual(['environment']);
    expect(find('workspace/old-notes')?.code, 'no header').toBe('skill_no_header');
    expect(find('workspace/overdue-copy')?.code, 'two of one name').toBe('skill_duplicate');
  });

  it('makes, changes and removes a skill, and takes the removal back', async () => {
    const skills = new SkillsState(api);
    await skills.use('ws-demo', '');
    skills.make();
    skills.draft.write('no header');
    expect(await skills.save(), 'what is no skill is not saved').toBeNull();
    expect([skills.saveFailure?.code, skills.draft.text], 'it says why and keeps the text').toEqual(['skill_no_header', 'no header']);
    skills.draft.write('---\nname: greet\ndescription: d\n---\nHello.\n');
    expect(await skills.save(), 'a whole one is').toBe('workspace/greet');
    skills.edit();
    skills.draft.write('---\nname: greet\ndescription: d\n---\nGood day.\n');
    expect(await skills.save(), 'changed').toBe('workspace/greet');
    const id = await skills.remove();
    expect(skills.list?.some((one) => one.id === 'workspace/greet'), 'removed').toBe(false);
    await api.call('edit_undo', { id: id! });
    await skills.load();
    expect(skills.list?.some((one) => one.id === 'workspace/greet'), 'and back').toBe(true);
  });
});

describe('added files', () => {
  it('copies at once where nothing has to be asked', async () => {
    const upload = new UploadState(await fresh('upload-plain'));
    const plain = await fresh('upload-plain');
    const at = new UploadState(plain);
    at.take((await plain.call('files_add', { workspace: 'ws-demo', folder: '' }))!);
    await vi.waitFor(() => expect(at.result?.added.length, 'copied').toBe(1));
    expect(upload.plan, 'another state is not touched').toBeNull();
  });

  it('asks about taken names, and nothing is replaced unless it is chosen', async () => {
    const upload = new UploadState(api);
    const call = vi.spyOn(api, 'call');
    upload.take((await api.call('files_add', { workspace: 'ws-demo', folder: '' }))!);
    expect(upload.asking, 'the person is asked').toBe(true);
    expect(upload.choices, 'keeping both is what is offered first').toEqual(['skip', 'keep_both', 'skip']);
    expect(call.mock.calls.map(([name]) => name), 'nothing was copied yet').toEqual(['files_add']);
    upload.chooseAll('skip');
    expect(upload.wanted, 'the free one would still be copied').toBe(1);
    upload.chooseAll('replace');
    await upload.run();
    expect(upload.result?.added.map((edit) => edit.replaced), 'as chosen').toEqual([false, true]);
    expect(upload.result?.refused, 'with the reason').toEqual([['con.md', 'path_name']]);
    await upload.undo(upload.result!.added[1]!);
    expect(upload.result?.added[1]?.undo, 'and taken back').toBe('undone');
  });

  it('can be stopped, and another drop does not disturb it', async () => {
    const slow = await fresh('upload-slow');
    const upload = new UploadState(slow);
    await slow.listen((event) => event.type === 'upload_progress' && upload.told(event.id, event.name, event.done, event.total));
    const plan = (await slow.call('files_add', { workspace: 'ws-demo', folder: '' }))!;
    upload.take(plan);
    const running = upload.run();
    await vi.waitFor(() => expect(upload.progress?.name, 'it tells what it copies').toBe('march.csv'));
    upload.take({ ...plan, id: 'another' });
    expect(upload.plan?.id, 'one at a time').toBe(plan.id);
    upload.close();
    expect(upload.plan, 'closing does not hide what goes on').not.toBeNull();
    await upload.cancel();
    await running;
    expect(upload.result?.cancelled, 'stopped').toBe(true);
  });
});

describe('what the core tells', () => {
  it('reaches the state that it concerns and copies nothing by itself', async () => {
    let hear: (event: WindowEvent) => void = () => undefined;
    vi.spyOn(api, 'listen').mockImplementation((handler) => ((hear = handler), Promise.resolve(() => undefined)));
    const pilot = new Pilot(api);
    await pilot.start();
    await vi.waitFor(() => expect(pilot.inbox.rows, 'the inbox was read').not.toBeNull());
    hear({ type: 'files_dragged', files: 2 });
    expect(pilot.upload.dragged, 'files are over the window').toBe(2);
    const plan = (await api.call('files_add', { workspace: 'ws-demo', folder: '' }))!;
    const call = vi.spyOn(api, 'call');
    hear({ type: 'files_dropped', plan });
    expect([pilot.upload.dragged, pilot.upload.asking], 'dropped, and asked about').toEqual([null, true]);
    expect(call, 'nothing was copied').not.toHaveBeenCalled();
    await pilot.files.use(pilot.app.workspace!.id);
    hear({ type: 'folder_watched', workspace: pilot.app.workspace!.id, state: 'looked' });
    expect(pilot.files.watch, 'how the folder is followed').toBe('looked');
    call.mockClear();
    const before = pilot.cardEvent.at;
    hear({ type: 'card_stale', approval: 'a-report', task: 't-sum', stale: true });
    expect(pilot.cardEvent, 'an open card of that task looks again').toEqual({ task: 't-sum', at: before + 1 });
    expect(pilot.notices.spoken, 'and it is said').not.toBe('');
    await vi.waitFor(() => expect(call.mock.calls.map(([name]) => name), 'the list too').toContain('approval_list'));
    expect(call.mock.calls.map(([name]) => name).filter((name) => /approve|reject/.test(name)), 'nothing is decided').toEqual([]);
  });
});

describe('files on disk', () => {
  it('reads drawn folders again and keeps selection, open folders and preview', async () => {
    const files = new FilesState(api);
    await files.use('ws-demo');
    const folder = files.rows.find((row) => row.type === 'entry' && row.entry.folder)!;
    const path = folder.type === 'entry' ? folder.entry.path : '';
    await files.toggle(path);
    const inside = files.folders.get(path)!.entries.find((entry) => !entry.folder)!;
    await files.show(inside.path);
    files.active = inside.path;
    const call = vi.spyOn(api, 'call');
    await files.diskChanged('ws-demo', ['nowhere/deep/x.md'], false);
    expect(call, 'a folder that is not drawn is not read').not.toHaveBeenCalled();
    await files.diskChanged('ws-demo', [`${path}/another.csv`], false);
    expect(call.mock.calls, 'only the folder that changed').toEqual([['files_list', expect.objectContaining({ path })]]);
    expect([files.active, files.open.has(path), files.previewChanged], 'everything else stays').toEqual([inside.path, true, false]);
    await files.diskChanged('ws-demo', [inside.path], false);
    expect(files.previewChanged, 'the open file says that it changed').toBe(true);
    expect(files.preview?.path, 'and is still shown').toBe(inside.path);
    await files.show(inside.path);
    expect(files.previewChanged, 'read again, it is the present one').toBe(false);
    await files.diskChanged('other', [inside.path], true);
    expect(files.previewChanged, 'another workspace is another matter').toBe(false);
  });
});
