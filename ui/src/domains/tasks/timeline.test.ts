import { beforeEach, describe, expect, it } from 'vitest';
import type { EventRecord } from '../../lib/api/generated/EventRecord';
import { loadRecording, type Recording } from '../../lib/api/memory';
import { analysisOf, answerOf, lastAnalysis, receipt, steps, subjectOf, type CallStep } from './timeline';

let data: Recording;
beforeEach(async () => (data = await loadRecording()));

const events = (id: string) => data.tasks.find((one) => one.task.id === id)!.events;
let seq = 0;
const event = (more: object): EventRecord => ({ position: 1, seq: (seq += 1), at: '2026-11-30T00:00:00Z', task: 't', source: 'agent', ...more }) as EventRecord;
const ask = (...calls: [string, string][]) => event({ type: 'model_answer', step: 1, text: '', calls: calls.map(([id, tool]) => ({ id, tool, arguments: { path: `${id}.md` } })), usage: { input: 0, output: 0, estimated: false }, elapsed_millis: 0 });

describe('steps of a task', () => {
  it('fold readings of one tool into one line and keep refusals apart', () => {
    const drawn = steps(events('t-run')).map((step) => (step.kind === 'group' ? `${step.tool}×${step.calls.length}` : step.kind === 'call' ? `${step.tool}:${step.state}` : step.kind));
    expect(drawn, 'in order').toEqual(['list_files:done', 'extract_document×6', 'read_file:refused', 'analyze_table:done']);
  });

  it('tell the whole way of a write', () => {
    const write = (id: string) => steps(events(id)).find((step): step is CallStep => step.kind === 'call' && step.tool === 'write_file')!;
    expect(write('t-sum').state, 'waits').toBe('waiting');
    expect([write('t-done').state, write('t-done').size], 'written, with its size').toEqual(['written', data.tasks.find((one) => one.task.id === 't-done')!.artifacts[0]!.size]);
    expect([write('t-refused').state, write('t-refused').note], 'rejected, with the note').toEqual(['rejected', 'Wrong folder']);
    expect(write('t-cancelled').state, 'a stopped task runs nothing more').toBe('not_run');
    const outside = steps(events('t-lost')).find((step): step is CallStep => step.kind === 'call')!;
    expect(outside.state, 'what cannot be known is called so').toBe('unknown');
  });

  it('follow a card to the one that replaced it', () => {
    const made = steps([
      ask(['c', 'write_file']), event({ type: 'approval_requested', approval: 'old', call_id: 'c', tool: 'write_file', path: 'a.md', digest: 'x', content: null }), event({ type: 'approval_replaced', old: 'old', new: 'new' }),
      event({ type: 'approval_decided', approval: 'new', decision: 'approve_edited', note: null, edited: { id: 'c', tool: 'write_file', arguments: {} }, by: 'window' }),
    ]);
    expect(made[0], 'one step, edited').toMatchObject({ kind: 'call', approval: 'new', state: 'running', edited: true });
  });

  it('never let a later result hide a refusal', () => {
    const made = steps([ask(['c', 'read_file']), event({ type: 'policy_denied', call_id: 'c', tool: 'read_file', code: 'path_escape', reason: '' }), event({ type: 'tool_result', call_id: 'c', tool: 'read_file', ok: false, code: 'path_escape', content: '', millis: 0 })]);
    expect(made[0], 'refused stays refused').toMatchObject({ state: 'refused', code: 'path_escape' });
  });

  it('show a call whose answer was lost', () => {
    expect(steps([event({ type: 'tool_started', call_id: 'x', tool: 'list_files', capability: 'file:read', reason: '' })])[0], 'a step all the same').toMatchObject({ tool: 'list_files', state: 'running' });
  });

  it('count the receipt', () => {
    expect(receipt(steps(events('t-done'))), 'reads, one write, approved').toEqual({ reads: 3, asked: 1, edited: 0, approved: 1, rejected: 0, written: 1, refused: 0 });
    expect(receipt(steps(events('t-refused'))), 'rejected').toMatchObject({ asked: 1, approved: 0, rejected: 1, written: 0 });
  });
});

describe('figures and words', () => {
  it('take only what is an analysis', () => {
    expect(analysisOf('not json'), 'text').toBeNull();
    expect(analysisOf('{"rows":1}'), 'too little').toBeNull();
    expect(analysisOf('{"rows":'), 'broken').toBeNull();
    expect(lastAnalysis(steps(events('t-done')))?.totals, 'exact strings').toEqual({ CNY: '38262.20', USD: '4392.00' });
  });

  it('find the answer and the subject', () => {
    expect(answerOf(steps(events('t-done'))), 'the last words').toContain('38,262.20');
    expect(answerOf(steps(events('t-sum'))), 'a waiting task has none').toBe('');
    const call = (given: unknown): CallStep => ({ ...(steps([ask(['c', 'x'])])[0] as CallStep), arguments: given });
    expect([subjectOf(call({ path: 'a' })), subjectOf(call({ paths: ['a', 'b'] })), subjectOf(call({ path: '.' })), subjectOf(call(null))], 'what it is about').toEqual(['a', 'a, b', null, null]);
  });
});
