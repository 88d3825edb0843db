import { fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';
import { openMemoryBackend } from '../../lib/api/memory';
import { en } from '../../lib/i18n/en';
import { locale } from '../../lib/i18n/index.svelte';
import { zhCN } from '../../lib/i18n/zh-CN';
import { KEY, Pilot } from '../../lib/state/pilot.svelte';
import SafetySettings from './SafetySettings.svelte';

async function open(query = ''): Promise<string[]> {
  localStorage.clear();
  const api = await openMemoryBackend(new URLSearchParams(query));
  const pilot = new Pilot(api);
  await pilot.app.load();
  locale.language = 'en';
  render(SafetySettings, { context: new Map([[KEY, pilot]]) });
  const rows = await screen.findAllByTestId('safety-case');
  return rows.map((row) => row.dataset.state ?? '');
}

const states = (): string[] => screen.getAllByTestId('safety-case').map((row) => row.dataset.state ?? '');

describe('the safety check', () => {
  it('has sentences about the same cases in both languages', () => {
    // That these are the cases that are compiled in is tested beside the cases.
    expect(Object.keys(zhCN.settings.safety.cases)).toEqual(Object.keys(en.settings.safety.cases));
  });

  it('runs nothing by itself, and then every case', async () => {
    const before = await open();
    expect(new Set(before), 'nothing ran yet').toEqual(new Set(['waiting']));
    await fireEvent.click(screen.getByTestId('safety-run'));
    await waitFor(() => expect(new Set(states()), 'each was played').toEqual(new Set(['held'])), { timeout: 4000 });
    expect(screen.getByTestId('safety-summary').textContent, 'and counted').toContain(`All ${before.length} held`);
  });

  it('says loudly what did not hold', async () => {
    await open('safety=poisoned-memory');
    await fireEvent.click(screen.getByTestId('safety-run'));
    await waitFor(() => expect(states().filter((state) => state === 'failed')).toHaveLength(1), { timeout: 4000 });
    await screen.findByText('memory/MEMORY.md: changed');
    await waitFor(() => expect(screen.getByTestId('safety-summary').textContent).toContain('Do not approve writes'), { timeout: 4000 });
  });

  it('stops between two cases and says how far it came', async () => {
    await open();
    await fireEvent.click(screen.getByTestId('safety-run'));
    await fireEvent.click(await screen.findByTestId('safety-stop'));
    await screen.findByTestId('safety-run');
    expect(screen.getByTestId('safety-summary').textContent, 'not all of them').toMatch(/^Stopped after \d+ of \d+\.$/);
  });
});
