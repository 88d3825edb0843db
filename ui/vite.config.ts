import { gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** The policy of the real window, so that the tests in the browser live under the same one. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src ipc: http://ipc.localhost; form-action 'none'; base-uri 'none'; object-src 'none'; frame-src 'none'";

/** Scripts of the window, gzipped. */
const MOST_BYTES = 400 * 1024;

/** Fails the window's build when its scripts grow too large or a recording has got into it. */
function budget(): Plugin {
  return {
    name: 'budget',
    generateBundle(_options, bundle) {
      let bytes = 0;
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        bytes += gzipSync(chunk.code).length;
        const recorded = Object.keys(chunk.modules).find((id) => /\/lib\/api\/memory/.test(id));
        if (recorded !== undefined) this.error(`a recording is in the window's build: ${recorded}`);
      }
      if (bytes > MOST_BYTES) this.error(`${bytes} bytes of script, gzipped; at most ${MOST_BYTES}`);
    },
  };
}

export default defineConfig(({ mode }) => ({
  plugins: [svelte(), ...(mode === 'memory' ? [] : [budget()]), ...(mode === 'test' ? [svelteTesting()] : [])],
  clearScreen: false,
  server: { port: 1420, strictPort: true },
  preview: { port: 4173, strictPort: true, headers: { 'Content-Security-Policy': POLICY } },
  build: {
    // The memory backend is a build of its own; the window's build never contains it.
    outDir: mode === 'memory' ? 'dist-memory' : 'dist',
    target: ['es2022', 'safari16.4', 'chrome110'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.ts'],
    setupFiles: [],
    restoreMocks: true,
  },
}));
