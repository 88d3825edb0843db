/** What a card of an outside tool says about its program. The core wrote it; here it is only read. */
import type { ApprovalView } from '../../lib/api/generated/ApprovalView';

export type Held = 'files_and_network' | 'files_only' | 'none';
export type Program = { command: string; held: Held };

/** The program behind a card; `null` when the request is not in a form that names one. */
export function programOf(view: ApprovalView): Program | null {
  const difference = view.card.difference;
  if (difference.kind !== 'outside') return null;
  let request: unknown;
  try {
    request = JSON.parse(difference.lines.map((line) => line.spans.map((span) => span.text).join('')).join('\n'));
  } catch {
    return null;
  }
  if (typeof request !== 'object' || request === null || !('program' in request) || !('args' in request) || !('confinement' in request)) return null;
  const { program, args, confinement } = request;
  if (typeof program !== 'string' || !Array.isArray(args)) return null;
  return { command: [program, ...args.map(String)].join(' '), held: isHeld(confinement) ? confinement : 'none' };
}

function isHeld(value: unknown): value is Held {
  return value === 'files_and_network' || value === 'files_only' || value === 'none';
}
