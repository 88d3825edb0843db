/** How a task's state looks: shape, colour and word, never colour alone. */
import type { TaskStatus } from '../../lib/api/generated/TaskStatus';
import type { IconName } from '../../shared/icons';

export const LOOKS: Record<TaskStatus, { icon: IconName; tone: string }> = {
  queued: { icon: 'clock', tone: '' },
  running: { icon: 'play', tone: 'run' },
  waiting_approval: { icon: 'clock', tone: 'wait' },
  completed: { icon: 'check', tone: 'ok' },
  failed: { icon: 'warn', tone: 'err' },
  cancelled: { icon: 'stop', tone: '' },
  interrupted: { icon: 'undo', tone: 'wait' },
};

/** True while something may still happen by itself. */
export function atWork(status: TaskStatus): boolean {
  return status === 'queued' || status === 'running';
}
