/** Schedules and the webhook of the recorded core. It computes no times: a preview shows those of the first schedule. */
import { PilotError, type CommandName, type RequestOf, type ResultOf } from './client';
import type { ErrorCode } from './generated/ErrorCode';
import type { ScheduleView } from './generated/ScheduleView';
import type { Recording } from './memory';

type Names = 'automation_state' | 'automations_pause' | 'schedule_preview' | 'schedule_save' | 'schedule_pause' | 'schedule_run' | 'schedule_remove' | 'channel_add' | 'channel_revoke' | 'channel_test';
type Handlers = { [K in Names & CommandName]: (request: RequestOf<K>) => ResultOf<K> };

const TOKEN = `ppt_${'7f'.repeat(32)}`;

function refuse(code: ErrorCode, subject: string): never {
  throw new PilotError({ code, message: 'not recorded', subject });
}

/** Handlers over the recording. `empty` in the address shows a core without any. */
export function automationHandlers(data: () => Recording, changed: () => void, query: () => URLSearchParams): Handlers {
  const state = () => (query().has('empty') ? { ...data().automations, schedules: [], channels: [], webhook: { state: 'off' as const, port: 8765 } } : data().automations);
  const schedule = (id: string): ScheduleView => data().automations.schedules.find((one) => one.id === id) ?? refuse('schedule_not_found', id);
  const nameOf = (workspace: string): string => data().app.workspaces.find((one) => one.id === workspace)?.name ?? refuse('workspace_not_found', workspace);
  const sample = () => data().automations.schedules[0]?.next ?? [];
  const task = () => data().tasks[0]?.task ?? refuse('task_not_found', 'none');
  return {
    automation_state: state,
    automations_pause: ({ paused }) => {
      data().automations.paused = paused;
      data().app.settings.automations_paused = paused;
      changed();
      return state();
    },
    schedule_preview: ({ rule }) => {
      const fields = rule.trim().split(/\s+/);
      if (!rule.startsWith('@') && fields.length !== 5) return { next: [], problem: { code: 'schedule_fields', field: null, text: null, message: 'not five fields' } };
      const hour = Number(fields[1]);
      if (hour > 23) return { next: [], problem: { code: 'schedule_value', field: 2, text: fields[1] ?? '', message: `field 2: ${fields[1]} is not an hour` } };
      return { next: sample(), problem: null };
    },
    schedule_save: (request) => {
      const kept = { workspace_name: nameOf(request.workspace), problem: null, ...request, next: sample() };
      if (request.id !== null) return Object.assign(schedule(request.id), kept, { id: request.id });
      const made: ScheduleView = { ...kept, id: `s-new-${data().automations.schedules.length}`, paused: false, runs: [] };
      data().automations.schedules.push(made);
      return made;
    },
    schedule_pause: ({ id, paused }) => Object.assign(schedule(id), { paused, next: paused ? [] : sample() }),
    schedule_run: ({ id }) => (schedule(id), task()),
    schedule_remove: ({ id }) => {
      data().automations.schedules = data().automations.schedules.filter((one) => one.id !== schedule(id).id);
      return null;
    },
    channel_add: ({ workspace, name }) => {
      const channel = { id: `c-new-${data().automations.channels.length}`, workspace, workspace_name: nameOf(workspace), name, created_at: '2026-11-30T06:30:00.000Z', accepted: 0, accepted_at: null, last_task: null, refused: 0, refused_at: null, refused_code: null, problem: null };
      data().automations.channels.push(channel);
      return { channel, token: TOKEN };
    },
    channel_revoke: ({ id }) => {
      data().automations.channels = data().automations.channels.filter((one) => one.id !== id);
      return null;
    },
    channel_test: ({ id, token }) => {
      const channel = data().automations.channels.find((one) => one.id === id);
      if (!channel || token !== TOKEN) return refuse('token_refused', id);
      Object.assign(channel, { accepted: channel.accepted + 1, accepted_at: '2026-11-30T06:30:00.000Z', last_task: task().id });
      return task().id;
    },
  };
}
