import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { defineConfig } from 'vitest/config';

/** The policy of the real window, so that the tests in the browser live under the same one. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src ipc: http://ipc.localhost; form-action 'none'; base-uri 'none'; object-src 'none'; frame-src 'none'";

export default defineConfig(({ mode }) => ({
  plugins: [svelte(), ...(mode === 'test' ? [svelteTesting()] : [])],
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
