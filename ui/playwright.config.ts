import { defineConfig } from '@playwright/test';

/** Debian's chromium on the recorded core, served with the policy of the real window. */
export default defineConfig({
  testDir: './e2e',
  outputDir: './test-results',
  timeout: 45_000,
  // Each test opens a page of its own on recorded data, and mostly waits.
  fullyParallel: true,
  workers: 2,
  retries: 0,
  forbidOnly: true,
  reporter: [['list']],
  use: {
    baseURL: 'http://localhost:4173',
    viewport: { width: 1280, height: 800 },
    timezoneId: 'Asia/Shanghai',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--font-render-hinting=none'],
    },
  },
  webServer: { command: 'npm run preview:memory', url: 'http://localhost:4173', reuseExistingServer: false, timeout: 60_000 },
});
