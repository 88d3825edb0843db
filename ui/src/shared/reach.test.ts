import { render, screen } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';
import type { ToolSpec } from '../lib/api/generated/ToolSpec';
import { en } from '../lib/i18n/en';
import { locale } from '../lib/i18n/index.svelte';
import ReachList from './ReachList.svelte';

const tool = (name: string): ToolSpec => ({ name, description: '', capability: 'mcp:execute', risk: 'high', parameters: {}, path_arguments: [] }) as unknown as ToolSpec;

function shown(asks: ToolSpec[]): string {
  locale.language = 'en';
  render(ReachList, { reach: { root: '/x', files: 1, files_more: false, runs_freely: [], asks, sends_to: null }, name: 'x' });
  return screen.getAllByRole('definition').at(-1)?.textContent ?? '';
}

describe('what a task can touch', () => {
  it('promises the guard alone only where no outside program is allowed', () => {
    expect(shown([tool('write_file'), tool('mcp_workspace-fs_write_text')]), 'both go through the guard').toBe(en.rail.cannotText);
  });

  it('says that an outside program is held by something else', () => {
    expect(shown([tool('mcp_rates_fx_rate')]), 'no promise that the guard cannot keep').toBe(en.rail.cannotOutside);
  });
});
