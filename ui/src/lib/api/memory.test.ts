import { beforeEach, describe, expect, it } from 'vitest';
import { PilotError, type CommandName } from './client';
import type { Difference } from './generated/Difference';
import type { WindowEvent } from './generated/WindowEvent';
import { loadRecording, openMemoryBackend, type MemoryBackend, type Recording } from './memory';
import { csvRows, textDifference } from './memory-diff';

/** Numbers of the changes that are drawn. */
function changesOf(difference: Difference): Set<number> {
  const rows = difference.kind === 'rows' ? difference.table.rows : difference.kind === 'cells' ? difference.sheets.flatMap((sheet) => sheet.rows) : difference.lines;
  return new Set(rows.map((row) => row.change).filter((change) => change > 0));
}

let data: Recording;
let api: MemoryBackend;
beforeEach(async () => {
  data = await loadRecording();
  api = await openMemoryBackend(new URLSearchParams('speed=0'));
});

describe('recordings', () => {
  it('fit together', () => {
    for (const row of data.rows) {
      const card = data.approvals.find((one) => one.id === row.id);
      expect(card?.state, `${row.id}: row and card agree`).toBe(row.state);
      expect(data.tasks.some((one) => one.task.id === row.task), `${row.id}: its task is there`).toBe(true);
    }
    for (const card of data.approvals) {
      const changes = changesOf(card.card.difference);
      expect(changes.size, `${card.id}: as many changes as it says`).toBe(card.card.changes);
      for (const change of card.card.must_see) expect(changes.has(change), `${card.id}: change ${change} can be seen`).toBe(true);
      for (const other of [card.replaces, card.replaced_by]) if (other !== null) expect(data.approvals.some((one) => one.id === other), `${card.id} → ${other}`).toBe(true);
    }
    for (const { task, events } of data.tasks) expect(events.map((event) => event.seq), `${task.id}: no gap`).toEqual(events.map((_, index) => index + 1));
  });
});

describe('recorded core', () => {
  it('answers every command that only reads', async () => {
    const reads: CommandName[] = ['app_state', 'audit_verify', 'window_ready'];
    for (const name of reads) await expect(api.call(name as 'app_state'), name).resolves.not.toBeUndefined();
    await expect(api.call('task_get', { id: 'none' }), 'an unknown id has a code').rejects.toBeInstanceOf(PilotError);
  });

  it('plays a task up to its card, and on after a yes', async () => {
    const events: WindowEvent[] = [];
    await api.listen((event) => events.push(event));
    const task = await api.call('task_create', { workspace: 'ws-demo', goal: '汇总本文件夹的发票', provider: null, session: null, follow_up_of: null });
    const waiting = async () => (await api.call('task_get', { id: task.id })).task.waiting_approval;
    await expect.poll(waiting, { timeout: 5000 }).not.toBeNull();
    const card = await api.call('approval_get', { id: (await waiting())! });
    const done = await api.call('approval_approve', { id: card.id, rev: card.rev, nonce: card.nonce, arguments: null, seen: [] });
    expect(done.state, 'written once').toBe('done');
    await expect(api.call('approval_approve', { id: card.id, rev: card.rev, nonce: card.nonce, arguments: null, seen: [] }), 'and never twice').rejects.toThrow('approval_decided');
    await expect.poll(async () => (await api.call('task_get', { id: task.id })).task.status, { timeout: 5000 }).toBe('completed');
    const seqs = events.flatMap((event) => (event.type === 'recorded' && event.record.task === task.id ? [event.record.seq] : []));
    expect(seqs, 'told in order without a gap').toEqual(seqs.map((_, index) => index + 1));
    expect(events.some((event) => event.type === 'delta'), 'words streamed').toBe(true);
  });

  it('refuses edits that leave the folder', async () => {
    for (const [path, code] of [['../x.md', 'path_parent'], ['/x.md', 'path_absolute'], ['x.exe', 'path_extension']] as const) {
      await expect(api.call('approval_preview_edit', { id: 'a-report', rev: 1, arguments: { path, content: 'x' } }), path).rejects.toThrow(code);
    }
  });
});

describe('stand-in difference', () => {
  it('gives back both texts', () => {
    const old = 'a\nb\nc\n';
    const now = 'a\nB\nc\nd\n';
    const made = textDifference(old, now);
    const side = (pick: 'old' | 'new') => `${made.lines.filter((line) => line[pick] !== null).map((line) => line.spans.map((span) => span.text).join('')).join('\n')}\n`;
    expect(side('old'), 'the old text').toBe(old);
    expect(side('new'), 'the new text').toBe(now);
    expect([made.changes, made.mustSee], 'one replaced, one added').toEqual([2, [1]]);
    expect(csvRows('a,"b,""c"""\n'), 'quotes').toEqual([['a', 'b,"c"']]);
  });
});
