import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Backend } from '../api/client';
import type { ApprovalRowView } from '../api/generated/ApprovalRowView';
import type { EventRecord } from '../api/generated/EventRecord';
import { openMemoryBackend, type MemoryBackend } from '../api/memory';
import { locale } from '../i18n/index.svelte';
import { AppState } from './app.svelte';
import { Coalesced } from './coalesced';
import { FilesState } from './files.svelte';
import { InboxState } from './inbox.svelte';
import { NoticesState } from './notices.svelte';
import { Pilot } from './pilot.svelte';
import { parseSpot, printSpot } from './route.svelte';
import { SessionsState } from './sessions.svelte';
import { TasksState } from './tasks.svelte';

let api: MemoryBackend;
beforeEach(async () => {
  localStorage.clear();
  api = await openMemoryBackend(new URLSearchParams('speed=0'));
});
afterEach(() => vi.useRealTimers());

describe('address', () => {
  it.each(['#/inbox', '#/inbox/a-report', '#/tasks/t-1', '#/files/台账/a b.csv', '#/settings/models'])('keeps %s', (hash) => {
    const spot = parseSpot(hash);
    expect(spot, 'it is read').not.toBeNull();
    expect(parseSpot(printSpot(spot!)), 'and comes back the same').toEqual(spot);
  });

  it('refuses what is no place', () => {
    expect(parseSpot('#/nowhere/x'), 'unknown').toBeNull();
    expect(parseSpot(''), 'empty').toBeNull();
    expect(parseSpot('#/files/%E0%A4%A'), 'a broken code stays text').toEqual({ place: 'files', item: '%E0%A4%A' });
  });
});

describe('program', () => {
  it('follows the language and puts it back when saving is refused', async () => {
    const app = new AppState(api);
    await app.load();
    await app.save({ language: 'zh-CN', theme: 'dark' });
    expect(locale.language, 'the window speaks Chinese').toBe('zh-CN');
    expect(app.theme, 'and is dark').toBe('dark');
    const refusing = new AppState({ call: () => Promise.reject(new Error('no')), listen: () => Promise.resolve(() => undefined) } as unknown as Backend);
    refusing.take(app.view!);
    await expect(refusing.save({ language: 'en' }), 'the error reaches the person').rejects.toThrow();
    expect(locale.language, 'what is shown is what is stored').toBe('zh-CN');
  });

  it('remembers the chosen workspace', async () => {
    const app = new AppState(api);
    await app.load();
    app.choose(app.workspaces[1]!);
    const again = new AppState(api);
    await again.load();
    expect(again.workspace?.id, 'after a reload the same folder is looked at').toBe(app.workspaces[1]!.id);
  });
});

describe('conversations', () => {
  it('lists those that wait first, finds words of goals, and keeps what was put away apart', async () => {
    const sessions = new SessionsState(api);
    await sessions.show('ws-q3', false, '');
    const waiting = sessions.list!.map((one) => one.waiting > 0);
    expect(waiting, 'the waiting ones stand together at the top').toEqual([...waiting].sort((one, other) => Number(other) - Number(one)));
    expect(waiting.includes(true) && waiting.includes(false), 'the recording has both').toBe(true);
    await sessions.show('ws-q3', false, 'RECOUNT');
    expect(sessions.list!.map((one) => one.id), 'a word of a later goal is enough').toEqual(['s-august']);
    await sessions.archive('s-august', true);
    await sessions.show('ws-q3', false, '');
    expect(sessions.list!.some((one) => one.id === 's-august'), 'out of sight').toBe(false);
    await sessions.show('ws-q3', true, '');
    expect(sessions.list!.map((one) => one.id), 'behind its filter').toEqual(['s-august']);
  });

  it('drops an answer that a newer question has overtaken', async () => {
    const answers: ((list: unknown[]) => void)[] = [];
    const slow = { call: () => new Promise((done) => answers.push(done as (list: unknown[]) => void)), listen: () => Promise.resolve(() => undefined) } as unknown as Backend;
    const sessions = new SessionsState(slow);
    const first = sessions.show('w', false, 'a');
    const second = sessions.show('w', false, 'ab');
    answers[1]!([{ id: 'new' }]);
    answers[0]!([{ id: 'old' }]);
    await Promise.all([first, second]);
    expect(sessions.list, 'what is shown belongs to what stands in the field').toEqual([{ id: 'new' }]);
  });

  it('shows the turns of the open conversation in order', async () => {
    const sessions = new SessionsState(api);
    await sessions.follow('s-august');
    expect(sessions.detail!.turns.map((turn) => turn.id)).toEqual(['t-refused', 't-aug', 't-report']);
    await sessions.follow('nobody');
    expect(sessions.detail, 'a conversation that is gone is none').toBeNull();
  });
});

describe('inbox', () => {
  it('walks over the waiting cards and stops at the ends', async () => {
    const inbox = new InboxState(api);
    await inbox.load();
    const ids = inbox.waiting.map((row) => row.id);
    expect(inbox.beside(ids[0]!, 1), 'next').toBe(ids[1]);
    expect(inbox.beside(ids[0]!, -1), 'nothing before the first').toBeNull();
    expect(inbox.beside(null, 1), 'from nowhere to the first').toBe(ids[0]);
    inbox.origin = 'schedule';
    expect(inbox.shown.map((row) => row.channel), 'only of that origin').toEqual(['schedule']);
  });

  it('says when a task asks often', async () => {
    const inbox = new InboxState(api);
    await inbox.load();
    const row = inbox.waiting[0]!;
    const made = (count: number, minutes: number): ApprovalRowView[] => Array.from({ length: count }, (_, index) => ({ ...row, id: `x${index}`, asked_at: new Date(Date.UTC(2026, 0, 1, 0, index * minutes)).toISOString() }));
    inbox.rows = made(8, 5);
    expect([...inbox.often], 'eight within an hour').toEqual([row.task]);
    inbox.rows = made(8, 10);
    expect([...inbox.often], 'eight over longer').toEqual([]);
  });

  it('keeps words for a list that cannot be read', async () => {
    const broken = new InboxState(await openMemoryBackend(new URLSearchParams('fail=approval_list:database_locked')));
    await broken.load();
    expect(broken.failure?.code, 'the code is kept for translation').toBe('database_locked');
    expect(broken.rows, 'no empty list is pretended').toBeNull();
  });
});

describe('tasks', () => {
  const event = (seq: number, more: object): EventRecord => ({ position: 900 + seq, seq, at: '2026-11-30T07:00:00Z', task: 't-run', source: 'agent', ...more }) as EventRecord;

  it('appends the next event and fetches again after a gap', async () => {
    const tasks = new TasksState(api);
    await tasks.show('t-run');
    const last = tasks.detail!.events.at(-1)!.seq;
    tasks.recorded(event(last + 1, { type: 'noted', code: null, detail: 'x' }));
    expect(tasks.detail!.events.at(-1)?.seq, 'shown at once').toBe(last + 1);
    tasks.recorded(event(last + 1, { type: 'noted', code: null, detail: 'x' }));
    expect(tasks.detail!.events.filter((one) => one.seq === last + 1).length, 'never twice').toBe(1);
    const call = vi.spyOn(api, 'call');
    tasks.recorded(event(last + 5, { type: 'noted', code: null, detail: 'x' }));
    await vi.waitFor(() => expect(call.mock.calls.map(([name]) => name), 'a gap makes a fetch').toContain('task_get'));
  });

  it('draws thousands of deltas in one frame', async () => {
    const tasks = new TasksState(api);
    await tasks.show('t-report');
    let frames = 0;
    let run: FrameRequestCallback = () => undefined;
    vi.stubGlobal('requestAnimationFrame', (callback: FrameRequestCallback) => ((run = callback), (frames += 1)));
    for (let index = 0; index < 1000; index += 1) tasks.delta('t-report', 'x');
    expect(frames, 'one frame was asked for').toBe(1);
    run(0);
    expect(tasks.streaming.length, 'nothing is lost').toBe(1000);
    tasks.delta('another', 'y');
    expect(tasks.streaming.length, 'text of other tasks is not mixed in').toBe(1000);
    vi.unstubAllGlobals();
  });

  it('empties the stream when the answer is recorded', async () => {
    const tasks = new TasksState(api);
    await tasks.show('t-run');
    expect(tasks.streaming, 'text that streams now').not.toBe('');
    const last = tasks.detail!.events.at(-1)!.seq;
    tasks.recorded(event(last + 1, { type: 'model_answer', step: 5, text: 'done', calls: [], usage: { input: 1, output: 2, estimated: true }, elapsed_millis: 5 }));
    expect(tasks.streaming, 'the answer stands in the record now').toBe('');
    expect(tasks.detail!.task.usage.estimated, 'an estimate makes the sum one').toBe(true);
  });
});

describe('files', () => {
  it('reads folders when they are opened and reveals a path', async () => {
    const files = new FilesState(api);
    await files.use('ws-demo');
    const before = files.rows.length;
    await files.reveal('海外/scan-0803.pdf');
    expect(files.rows.length, 'the folder is open').toBeGreaterThan(before);
    await files.show('海外/scan-0803.pdf');
    expect(files.preview?.document.code, 'a scan says that it is one').toBe('document_scanned');
    files.filter = 'scan';
    expect(files.rows.map((row) => (row.type === 'entry' ? row.entry.name : '')), 'the folder above a hit stays').toEqual(['海外', 'scan-0803.pdf']);
    await files.show('nothing.bin');
    expect(files.previewFailure?.code, 'a file that cannot be read says why').toBe('document_unsupported');
  });
});

describe('small parts', () => {
  it('makes one fetch of many askings, and one more for those during a run', async () => {
    vi.useFakeTimers();
    let runs = 0;
    let finish = () => {};
    const fetch = new Coalesced(() => ((runs += 1), new Promise<void>((done) => (finish = done))), 10);
    for (let index = 0; index < 50; index += 1) fetch.ask();
    await vi.advanceTimersByTimeAsync(20);
    expect(runs, 'one run').toBe(1);
    fetch.ask();
    fetch.ask();
    finish();
    await vi.advanceTimersByTimeAsync(50);
    expect(runs, 'and one for what came meanwhile').toBe(2);
  });

  it('reads the same words out twice', () => {
    const notices = new NoticesState();
    notices.say('x');
    const first = notices.spoken;
    notices.say('x');
    expect(notices.spoken, 'a change, or it would not be read').not.toBe(first);
  });

  it('opens the card that a notification names and never decides it', async () => {
    let hear: Parameters<Backend['listen']>[0] = () => undefined;
    const pilot = new Pilot({ call: api.call.bind(api), listen: (handler) => ((hear = handler), Promise.resolve(() => undefined)) } as Backend);
    await pilot.start();
    const call = vi.spyOn(api, 'call');
    hear({ type: 'open_card', approval: 'a-report' });
    expect([pilot.route.place, pilot.route.item], 'the card is opened').toEqual(['inbox', 'a-report']);
    expect(call.mock.calls.map(([name]) => name).filter((name) => name.startsWith('approval_')), 'nothing is decided').toEqual([]);
  });
});
