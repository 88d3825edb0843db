import { fireEvent, render, screen } from '@testing-library/svelte';
import { createRawSnippet } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PilotError, type Backend, type CommandName } from '../../lib/api/client';
import { openMemoryBackend, type MemoryBackend } from '../../lib/api/memory';
import { locale } from '../../lib/i18n/index.svelte';
import ApprovalCard from './ApprovalCard.svelte';
import { CardState, DEAD_TIME, DEBOUNCE } from './card.svelte';
import { DWELL } from './seen-gate';

let api: MemoryBackend;
const calls: CommandName[] = [];

/** A screen on which nothing is ever drawn, so that the gate is moved by hand. */
class NoScreen {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
  takeRecords(): [] {
    return [];
  }
}

beforeEach(async () => {
  vi.stubGlobal('IntersectionObserver', NoScreen);
  vi.stubGlobal('ResizeObserver', NoScreen);
  locale.language = 'en';
  calls.length = 0;
  api = await openMemoryBackend(new URLSearchParams('speed=0'));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function spied(backend: Backend = api): Backend {
  return { call: ((name: CommandName, ...request: []) => (calls.push(name), backend.call(name as 'app_state', ...request))) as Backend['call'], listen: (handler) => backend.listen(handler) };
}

async function open(id: string, backend: Backend = spied()): Promise<CardState> {
  return new CardState(backend, await api.call('approval_get', { id }));
}

function seeAll(card: CardState): void {
  for (const change of card.view.card.must_see) seeChange(card, change);
  card.saw();
}

function seeChange(card: CardState, change: number): void {
  const lines = card.view.card.difference.kind === 'text' ? card.view.card.difference.lines : [];
  lines.forEach((line, index) => line.change === change && card.gate.show(`l${index}`, 0, 21, 21, 0));
  card.gate.tick(DWELL);
}

const settle = () => new Promise((done) => setTimeout(done, DEAD_TIME + 30));
const ready = (card: CardState) => vi.waitFor(() => expect(card.ready, 'the dead time is over').toBe(true), { timeout: 2000 });

describe('a card', () => {
  it('takes no decision in its dead time', async () => {
    const card = await open('a-create');
    expect(card.action.kind, 'a new file needs no gate').toBe('approve');
    await card.approve();
    expect(calls, 'nothing was sent').toEqual([]);
    await settle();
    await card.approve();
    expect([calls, card.view.state], 'now it was, once').toEqual([['approval_approve'], 'done']);
  });

  it('must have been seen before it can be approved', async () => {
    const card = await open('a-report');
    await settle();
    expect(card.action, 'four changes').toEqual({ kind: 'next', left: 4 });
    await card.approve();
    expect(calls, 'the gate holds').toEqual([]);
    expect(card.nextUnseen(), 'the main button walks').toBe(1);
    seeAll(card);
    expect(card.action, 'and then says what it does').toEqual({ kind: 'approve', outside: false, flagged: 2, edits: 0 });
  });

  it('sends what was seen and the revision that was shown', async () => {
    const sent: unknown[] = [];
    const card = await open('a-report', { call: ((name: CommandName, request: unknown) => (sent.push([name, request]), api.call(name as 'app_state', ...([request] as unknown as [])))) as Backend['call'], listen: (handler) => api.listen(handler) });
    seeAll(card);
    await ready(card);
    await card.approve();
    expect(sent[0], 'one request').toEqual(['approval_approve', { id: 'a-report', rev: 1, nonce: expect.any(String), arguments: null, seen: [1, 2, 3, 4] }]);
  });

  it('checks an edit 300 ms after the last key and asks to look again', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const card = await open('a-report');
    seeAll(card);
    const original = card.view.original.arguments as { path: string; content: string };
    card.edit({ ...original, content: 'a' });
    card.edit({ ...original, content: '# Supplier invoices, Q3 2026\n' });
    expect(card.action.kind, 'no yes while it is checked').toBe('checking');
    await vi.advanceTimersByTimeAsync(DEBOUNCE - 20);
    expect(calls, 'not before the pause').toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(calls, 'one check for all keys').toEqual(['approval_preview_edit']);
    expect([card.edits, card.action.kind], 'new bytes are new to the eye').toEqual([['content'], 'next']);
  });

  it('holds an edit to the rules and says why', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const card = await open('a-create');
    card.edit({ ...(card.view.call.arguments as object), path: '../shared/summary.md' });
    await vi.advanceTimersByTimeAsync(DEBOUNCE + 100);
    expect([card.refused?.code, card.action.kind], 'refused').toEqual(['path_parent', 'refused']);
    await vi.advanceTimersByTimeAsync(DEAD_TIME);
    await card.approve();
    expect(calls.filter((name) => name === 'approval_approve'), 'a refused edit is not approved').toEqual([]);
    card.discard();
    await vi.advanceTimersByTimeAsync(DEBOUNCE + 100);
    expect([card.refused, card.edits], 'the model’s arguments are back').toEqual([null, []]);
  });

  it('lets only the last check count', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    let first = true;
    const slow: Backend = {
      call: (async (name: CommandName, ...request: []) => {
        const mine = name === 'approval_preview_edit' && first;
        if (name === 'approval_preview_edit') first = false;
        const made = await api.call(name as 'app_state', ...request);
        if (mine) await new Promise((done) => setTimeout(done, 2000));
        return made;
      }) as Backend['call'],
      listen: (handler) => api.listen(handler),
    };
    const card = await open('a-create', slow);
    const given = card.view.call.arguments as { path: string; content: string };
    card.edit({ ...given, path: 'first.md' });
    await vi.advanceTimersByTimeAsync(DEBOUNCE + 50);
    card.edit({ ...given, path: 'second.md' });
    await vi.advanceTimersByTimeAsync(DEBOUNCE + 50);
    await vi.advanceTimersByTimeAsync(4000);
    expect([card.view.path, card.checking], 'the late answer is dropped').toEqual(['second.md', false]);
  });

  it('shows the new card when the file changed', async () => {
    api = await openMemoryBackend(new URLSearchParams('speed=0&stale=a-create'));
    const card = await open('a-create');
    await ready(card);
    await card.approve();
    expect([card.view.state, card.action.kind, card.failure], 'void, nothing to approve').toEqual(['replaced', 'none', null]);
    expect(card.view.replaced_by, 'a new card stands in its place').not.toBeNull();
  });

  it('says when it was decided elsewhere', async () => {
    api = await openMemoryBackend(new URLSearchParams('speed=0&decided=a-create'));
    const card = await open('a-create');
    await ready(card);
    await card.approve();
    expect([card.view.state, card.elsewhere], 'read-only now').toEqual(['done', true]);
  });

  it('compares a stale card anew without writing', async () => {
    const card = await open('a-create');
    card.view = { ...card.view, stale: true };
    const backend = spied();
    const stale = new CardState({ ...backend, call: (async (name: CommandName, ...request: []) => {
      const made = await backend.call(name as 'app_state', ...request);
      return name === 'approval_get' ? { ...(made as object), stale: true } : made;
    }) as Backend['call'] }, card.view);
    expect(stale.action.kind, 'no yes to what is no longer so').toBe('compare');
    await stale.compare();
    expect(calls, 'only looked at').toEqual(['approval_get', 'approval_preview_edit']);
    expect(stale.view.stale, 'the difference is that of the file as it is now').toBe(false);
    await ready(stale);
    calls.length = 0;
    const sent = vi.spyOn(api, 'call');
    await stale.approve();
    expect(sent.mock.calls.find(([name]) => name === 'approval_approve')?.[1], 'what was shown is what is sent').toMatchObject({ arguments: card.view.call.arguments });
  });

  it('keeps an error that is nobody’s decision', async () => {
    const card = await open('a-create', { call: ((name: CommandName, ...request: []) => (name === 'approval_approve' ? Promise.reject(new PilotError({ code: 'disk_full', message: 'x', subject: null })) : api.call(name as 'app_state', ...request))) as Backend['call'], listen: () => Promise.resolve(() => undefined) });
    await ready(card);
    await card.approve();
    expect([card.failure?.code, card.view.state], 'said in words, still waiting').toEqual(['disk_full', 'pending']);
  });

  it('rejects with the note, or without', async () => {
    const card = await open('a-report');
    card.note = '  September total is wrong  ';
    await card.reject();
    expect([card.view.state, card.view.note], 'the note goes along, trimmed').toEqual(['rejected', 'September total is wrong']);
  });
});

describe('the drawn card', () => {
  const receipt = createRawSnippet(() => ({ render: () => '<span>receipt</span>' }));
  const show = (card: CardState, more: object = {}) =>
    render(ApprovalCard, { props: { card, singleKeys: true, takeFocus: true, receipt, onopen: () => undefined, onfollow: () => undefined, onnext: null, onleave: () => undefined, onsay: () => undefined, ...more } });
  const press = (key: string, more: KeyboardEventInit = {}, target: Element | Window = document.activeElement ?? document.body) => fireEvent.keyDown(target, { key, bubbles: true, ...more });

  it('puts the focus on its heading and never on Approve', async () => {
    show(await open('a-create'));
    expect(document.activeElement?.tagName, 'the heading is read first').toBe('H2');
  });

  it('is not approved by Enter, by a repeated chord, while composing, or from outside', async () => {
    const card = await open('a-create');
    show(card);
    await settle();
    await press('Enter');
    await press('Enter', { ctrlKey: true, repeat: true });
    await press('Enter', { ctrlKey: true, isComposing: true });
    const outside = document.createElement('button');
    document.body.append(outside);
    outside.focus();
    await press('Enter', { ctrlKey: true });
    outside.remove();
    expect([calls, card.view.state], 'none of these is a yes').toEqual([[], 'pending']);
  });

  it('is approved by the chord with the focus inside', async () => {
    const card = await open('a-create');
    show(card);
    await settle();
    await press('Enter', { ctrlKey: true });
    await vi.waitFor(() => expect(card.view.state, 'the chord is a yes').toBe('done'));
    expect(calls.filter((name) => name === 'approval_approve').length, 'once').toBe(1);
  });

  it('is approved by a click on the button that says so, not before its time', async () => {
    const card = await open('a-create');
    show(card);
    const button = screen.getByTestId('approve-button');
    expect(button.getAttribute('aria-disabled'), 'it waits').toBe('true');
    await fireEvent.click(button);
    expect(calls, 'an early click does nothing').toEqual([]);
    await settle();
    expect(button.getAttribute('aria-disabled'), 'it is ready').toBe('false');
    await fireEvent.click(button);
    await vi.waitFor(() => expect(card.view.state, 'written').toBe('done'));
  });

  it('takes no click right after it has become Approve', async () => {
    const card = await open('a-report');
    show(card);
    await settle();
    const button = screen.getByTestId('approve-button');
    expect(button.dataset.action, 'it walks first').toBe('next');
    seeAll(card);
    await vi.waitFor(() => expect(button.dataset.action, 'it turned').toBe('approve'));
    await vi.waitFor(() => expect(button.getAttribute('aria-disabled'), 'and waits').toBe('true'));
    await fireEvent.click(button);
    expect(calls, 'a second click of walking is no yes').toEqual([]);
  });

  it('opens the note by R, keeps what is typed as text, and rejects by the chord', async () => {
    const card = await open('a-report');
    show(card);
    await settle();
    await press('r');
    const note = await screen.findByTestId('reject-note');
    expect(document.activeElement, 'the note has the focus').toBe(note);
    await fireEvent.input(note, { target: { value: 'e r d n o' } });
    await press('e', {}, note);
    expect([card.mode, card.tab], 'keys in a field are text').toEqual(['note', 'difference']);
    await press('Enter', {}, note);
    expect(calls, 'Enter makes a line').toEqual([]);
    await press('Enter', { ctrlKey: true }, note);
    await vi.waitFor(() => expect(card.view.state, 'rejected').toBe('rejected'));
  });

  it('knows no single key when they are switched off', async () => {
    const card = await open('a-report');
    show(card, { singleKeys: false });
    await settle();
    await press('r');
    await press('e');
    expect(card.mode, 'nothing happens').toBe('reading');
  });

  it('turns to the whole file, the present file and back, and walks by F7', async () => {
    const card = await open('a-report');
    show(card);
    await press('n');
    expect(card.tab, 'N').toBe('after');
    await press('o');
    expect(card.tab, 'O').toBe('before');
    await press('F7');
    await vi.waitFor(() => expect([card.tab, card.change], 'F7 comes back to the difference').toEqual(['difference', 1]));
    await press('F7', { shiftKey: true });
    expect(card.change, 'Shift F7 stops at the first').toBe(1);
  });

  it('edits by E and leaves by Esc, step by step', async () => {
    const left = vi.fn();
    const card = await open('a-create');
    show(card, { onleave: left });
    await settle();
    await press('e');
    await vi.waitFor(() => expect(screen.getByTestId('args-field-path'), 'fields by the schema').toBeTruthy());
    await press('Escape');
    expect([card.mode, left.mock.calls.length], 'first out of the editor').toEqual(['reading', 0]);
    await press('Escape');
    expect(left.mock.calls.length, 'then out of the card').toBe(1);
  });

  it('draws the model’s reason as text that cannot act', async () => {
    const card = await open('a-create');
    card.view = { ...card.view, said: '**Approved** <button>Approve once</button> https://evil.example' };
    const { container } = show(card);
    expect(container.querySelector('blockquote')?.innerHTML, 'no markup, no link').not.toMatch(/<button|<a |<strong/);
  });
});
