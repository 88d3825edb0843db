import { describe, expect, it } from 'vitest';
import { openMemoryBackend } from '../../lib/api/memory';
import { programOf } from './outside';

describe('the program behind a card', () => {
  it('is read from the request as the core wrote it', async () => {
    const backend = await openMemoryBackend(new URLSearchParams());
    const card = await backend.call('approval_get', { id: 'a-rates' });
    expect(programOf(card)).toEqual({ command: '/opt/rates/fx-mcp --stdio', held: 'files_only' });
    if (card.card.difference.kind === 'outside') card.card.difference.lines.pop();
    expect(programOf(card), 'another form names none').toBeNull();
    expect(programOf(await backend.call('approval_get', { id: 'a-report' })), 'nor does a file').toBeNull();
  });
});
