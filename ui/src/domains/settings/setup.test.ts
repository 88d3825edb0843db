import { describe, expect, it } from 'vitest';
import { openMemoryBackend } from '../../lib/api/memory';
import { freeName, ModelSetup, Trial } from './setup.svelte';

const DRAFT = { name: null, kind: 'openai_compatible', base_url: 'http://127.0.0.1:11434/v1', model: 'qwen3:8b', key: null } as const;

describe('finding models', () => {
  it('tells nothing found from not looked yet', async () => {
    const setup = new ModelSetup(await openMemoryBackend());
    expect(setup.found, 'not looked yet').toBeNull();
    await setup.look();
    expect(setup.found, 'looked, and nobody is there').toEqual([]);
    expect(setup.looking, 'the look is over').toBe(false);
  });

  it('knows which server is set up already', async () => {
    const setup = new ModelSetup(await openMemoryBackend(new URLSearchParams('local')));
    await setup.look();
    expect(setup.found?.map((server) => [server.preset, server.provider, server.loading]), 'by address').toEqual([
      ['ollama', 'ollama', false], ['lm-studio', null, false], ['llama-cpp', null, true],
    ]);
    await setup.loadPresets();
    expect(setup.presets.map((preset) => preset.id), 'services and servers').toEqual(expect.arrayContaining(['openai', 'anthropic', 'deepseek', 'qwen', 'moonshot', 'ollama', 'lm-studio', 'llama-cpp']));
  });

  it('gives every provider a name of its own', () => {
    expect(freeName('Ollama', []), 'free').toBe('Ollama');
    expect(freeName('Ollama', ['Ollama', 'Ollama 2']), 'the next number').toBe('Ollama 3');
  });
});

describe('a try', () => {
  it('ends with what came of it', async () => {
    const good = new Trial(await openMemoryBackend());
    await good.run(DRAFT);
    expect([good.result?.ok, good.result?.called_tool, good.running], 'it answered and called the tool').toEqual([true, true, false]);
    const refused = new Trial(await openMemoryBackend(new URLSearchParams('test=provider_unauthorized')));
    await refused.run(DRAFT);
    expect(refused.result?.code, 'refused').toBe('provider_unauthorized');
  });

  it('says so when the core itself fails', async () => {
    const trial = new Trial(await openMemoryBackend(new URLSearchParams('fail=provider_test:database_locked')));
    await trial.run(DRAFT);
    expect(trial.result?.code, 'its code').toBe('database_locked');
  });
});
