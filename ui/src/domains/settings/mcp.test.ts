import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, describe, expect, it } from 'vitest';
import { openMemoryBackend, type MemoryBackend } from '../../lib/api/memory';
import { locale } from '../../lib/i18n/index.svelte';
import { KEY, Pilot } from '../../lib/state/pilot.svelte';
import McpSettings from './McpSettings.svelte';

let api: MemoryBackend;
let pilot: Pilot;

async function open(query = ''): Promise<void> {
  localStorage.clear();
  api = await openMemoryBackend(new URLSearchParams(query));
  pilot = new Pilot(api);
  await pilot.app.load();
  pilot.app.choose(pilot.app.workspaces.find((one) => one.id === 'ws-q3')!);
  locale.language = 'en';
  render(McpSettings, { context: new Map([[KEY, pilot]]) });
  await screen.findAllByTestId('mcp-server');
}

const server = (name: string): HTMLElement => screen.getAllByTestId('mcp-server').find((one) => one.dataset.server === name)!;

describe('outside servers in the settings', () => {
  beforeEach(() => open());

  it('say for each tool what it may do and how that was found', () => {
    const tools = within(server('rates')).getAllByTestId('mcp-tool').map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent.trim()).join(' | '));
    expect(tools[0], 'declared network asks').toMatch(/^fx_rate \| mcp:rates:network \| declaration \| Asks you each time \| none$/);
    expect(tools[1], 'an unknown capability is refused').toMatch(/^sync_all \| mcp:rates \| declaration \| Refused/);
    expect(within(server('archive')).getByText('Hidden: nothing says what it does'), 'P3 is shown, not registered').toBeTruthy();
    expect(within(server('workspace-fs')).queryByTestId('mcp-edit'), 'the built-in one is not edited').toBeNull();
    expect(within(server('archive')).queryByTestId('mcp-edit'), 'nor is one of the environment').toBeNull();
    expect(screen.getByText(/POCKETPILOT_MCP_SERVERS: scans/), 'what was left out is said').toBeTruthy();
  });

  it('are allowed and forbidden for the workspace in sight', async () => {
    const toggle = within(server('rates')).getByTestId('mcp-allow-rates');
    expect(toggle.getAttribute('aria-checked'), 'allowed as recorded').toBe('true');
    await fireEvent.click(toggle);
    await waitFor(() => expect(within(server('rates')).getByTestId('mcp-allow-rates').getAttribute('aria-checked')).toBe('false'));
    expect((await api.call('mcp_state')).servers.find((one) => one.id === 'rates')?.workspaces, 'the core was told').toEqual([]);
  });

  it('are checked, and what is wrong stands in words', async () => {
    await fireEvent.click(within(server('rates')).getByTestId('mcp-check'));
    await waitFor(() => expect(server('rates').textContent).toMatch(/Answered in 84 ms\.\s*rates-mcp 1\.4\.2/));
    await fireEvent.click(within(server('archive')).getByTestId('mcp-check'));
    await waitFor(() => expect(server('archive').textContent, 'translated, with the words of the core').toMatch(/could not be started.*there is no program/));
  });

  it('are declared by a form, and a refusal keeps what was typed', async () => {
    await fireEvent.click(screen.getByTestId('mcp-add'));
    await fireEvent.input(screen.getByTestId('mcp-tools'), { target: { value: '{' } });
    await fireEvent.input(screen.getByTestId('mcp-name'), { target: { value: 'notes' } });
    await fireEvent.input(screen.getByTestId('mcp-command'), { target: { value: './notes' } });
    await fireEvent.click(screen.getByTestId('mcp-save'));
    expect(screen.getByText('This is not valid JSON.'), 'not sent at all').toBeTruthy();
    await fireEvent.input(screen.getByTestId('mcp-tools'), { target: { value: '{}' } });
    await fireEvent.click(screen.getByTestId('mcp-save'));
    await screen.findByText('This declaration cannot be used');
    expect((screen.getByTestId('mcp-command') as HTMLInputElement).value, 'nothing is lost').toBe('./notes');
    await fireEvent.input(screen.getByTestId('mcp-command'), { target: { value: '/opt/notes' } });
    await fireEvent.click(screen.getByTestId('mcp-save'));
    await waitFor(() => expect(server('notes').textContent).toMatch(/\/opt\/notes/));
  });

  it('are removed after a question', async () => {
    await fireEvent.click(within(server('rates')).getByTestId('mcp-remove'));
    await fireEvent.click(screen.getByTestId('mcp-remove-yes'));
    await waitFor(() => expect(screen.getAllByTestId('mcp-server').length).toBe(2));
  });
});

describe('what cannot be held', () => {
  it('is said at the top', async () => {
    await open('confinement=none');
    expect(screen.getByTestId('mcp-confinement').dataset.state).toBe('none');
    expect(screen.getByText(/run with your own rights/)).toBeTruthy();
  });
});
