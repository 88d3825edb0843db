import { expect, test } from '@playwright/test';
import { expectAccessible, expectNothingCut, open } from './window';

/** Every screen, in both languages and both themes: a picture, no fault of accessibility, nothing cut, no fault of any kind. */
const SCREENS: { name: string; hash: string; query?: string; then?: (page: import('@playwright/test').Page) => Promise<void> }[] = [
  { name: '01-first-run', hash: '', query: 'first-run' },
  { name: '02-tasks', hash: '#/tasks', query: 'workspace=ws-q3' },
  { name: '02-tasks-reach', hash: '#/tasks', then: async (page) => page.getByTestId('reach-toggle').click() },
  { name: '03-task-running', hash: '#/tasks/t-run', query: 'workspace=ws-q3' },
  { name: '03-task-waiting', hash: '#/tasks/t-sum' },
  { name: '03-task-interrupted', hash: '#/tasks/t-cut', query: 'workspace=ws-q3' },
  { name: '03-task-failed', hash: '#/tasks/t-lost', query: 'workspace=ws-q3' },
  { name: '04-task-result', hash: '#/tasks/t-done', then: async (page) => expect(page.getByTestId('artifact-row')).toBeVisible() },
  { name: '05-inbox', hash: '#/inbox' },
  { name: '05-inbox-empty', hash: '#/inbox', query: 'empty' },
  { name: '05-inbox-error', hash: '#/inbox', query: 'fail=approval_list:database_locked' },
  { name: '06-card-text', hash: '#/inbox/a-report' },
  { name: '06-card-new', hash: '#/inbox/a-create' },
  { name: '06-card-csv', hash: '#/inbox/a-payees' },
  { name: '06-card-xlsx', hash: '#/inbox/a-ledger' },
  { name: '06-card-memory', hash: '#/inbox/a-memory' },
  { name: '06-card-outside', hash: '#/inbox/a-rates' },
  { name: '07-card-note', hash: '#/inbox/a-report', then: async (page) => { await page.waitForTimeout(700); await page.getByTestId('reject-button').click(); await expect(page.getByTestId('reject-note')).toBeFocused(); } },
  { name: '07-card-editing', hash: '#/inbox/a-report', then: async (page) => { await page.waitForTimeout(700); await page.getByTestId('edit-button').click(); await page.getByTestId('args-field-path').fill('../shared/summary.md'); await expect(page.getByText('path_parent')).toBeVisible(); } },
  { name: '07-card-editing-xlsx', hash: '#/inbox/a-ledger', then: async (page) => { await page.waitForTimeout(700); await page.getByTestId('edit-button').click(); await page.getByTestId('args-cell-F9').fill('待核对'); await expect(page.getByTestId('args-editor')).toContainText(/Checked again|已重新检查/); } },
  { name: '07-card-done', hash: '#/inbox/a-done' },
  { name: '07-card-rejected', hash: '#/inbox/a-rejected' },
  { name: '07-card-replaced', hash: '#/inbox/a-old' },
  { name: '07-card-void', hash: '#/inbox/a-void' },
  { name: '07-card-unknown', hash: '#/inbox/a-unknown' },
  { name: '07-card-failed', hash: '#/inbox/a-failed' },
  { name: '07-card-large', hash: '#/inbox/a-report', query: 'large=a-report' },
  { name: '08-files-table', hash: '#/files/台账/小满餐饮-2026Q3.csv' },
  { name: '08-files-invoice', hash: '#/files/海外/Larkfen-1108.pdf' },
  { name: '08-files-scan', hash: '#/files/海外/scan-0803.pdf' },
  { name: '08-files-text', hash: '#/files/邮件/0918-对账.md' },
  { name: '09-settings-general', hash: '#/settings/general' },
  { name: '09-settings-models', hash: '#/settings/models' },
  { name: '09-settings-provider', hash: '#/settings/models', query: 'keyring=missing', then: async (page) => { await page.getByTestId('provider-add').click(); await page.getByTestId('provider-save').click(); } },
  { name: '09-settings-mcp', hash: '#/settings/mcp', query: 'workspace=ws-q3', then: async (page) => { await expect(page.getByTestId('mcp-server').first()).toBeVisible(); } },
  { name: '09-settings-mcp-check', hash: '#/settings/mcp', query: 'workspace=ws-q3&confinement=none', then: async (page) => { await expect(page.getByTestId('mcp-check').first()).toBeVisible(); for (const button of await page.getByTestId('mcp-check').all()) await button.click(); await expect(page.getByText('mcp_not_started')).toBeVisible(); } },
  { name: '09-settings-mcp-dialog', hash: '#/settings/mcp', query: 'workspace=ws-q3', then: async (page) => { await page.getByTestId('mcp-add').click(); await page.getByTestId('mcp-tools').fill('{'); await page.getByTestId('mcp-save').click(); } },
  { name: '09-settings-safety', hash: '#/settings/safety', then: async (page) => { await page.getByTestId('safety-run').click(); await expect(page.locator('[data-testid=safety-case][data-state=waiting], [data-testid=safety-case][data-state=running]')).toHaveCount(0); } },
  { name: '09-settings-safety-failed', hash: '#/settings/safety', query: 'safety=poisoned-memory', then: async (page) => { await page.getByTestId('safety-run').click(); await expect(page.locator('[data-testid=safety-case][data-state=failed]')).toHaveCount(1); await expect(page.getByTestId('safety-summary')).toHaveClass(/err/); } },
  { name: '09-settings-notifications', hash: '#/settings/notifications' },
  { name: '09-settings-data', hash: '#/settings/data' },
  { name: '09-settings-about', hash: '#/settings/about' },
  { name: '10-undo', hash: '#/inbox/a-done', then: async (page) => { await page.getByTestId('artifact-undo').click(); await expect(page.getByTestId('undo-confirm')).toBeVisible(); } },
  { name: '10-consent', hash: '#/tasks', query: 'consent', then: async (page) => { await page.getByTestId('goal-input').fill('x'); await page.getByTestId('goal-send').click(); await expect(page.getByTestId('consent-yes')).toBeVisible(); } },
  { name: '10-keys', hash: '#/tasks', then: async (page) => { await page.locator('body').press('?'); await expect(page.getByRole('dialog')).toBeVisible(); } },
  { name: '10-workspace-menu', hash: '#/tasks', then: async (page) => page.getByTestId('workspace-menu').click() },
  { name: '10-model-menu', hash: '#/tasks', then: async (page) => page.getByTestId('model-chip').click() },
];

for (const lang of ['en', 'zh-CN'] as const) {
  for (const theme of ['light', 'dark'] as const) {
    test.describe(`${lang}, ${theme}`, () => {
      for (const screen of SCREENS) {
        test(screen.name, async ({ page }) => {
          await page.emulateMedia({ reducedMotion: 'reduce' });
          const faults = await open(page, screen.hash, { lang, theme }, screen.query ?? '');
          await screen.then?.(page);
          await page.waitForTimeout(350);
          await page.screenshot({ path: `e2e/shots/${screen.name}-${lang}-${theme}.png` });
          await expect(page.locator('html')).toHaveAttribute('lang', lang);
          await expect(page.locator('html')).toHaveAttribute('data-theme', theme);
          await expectAccessible(page, screen.name);
          await expectNothingCut(page, screen.name);
          expect(faults.list, 'no error, no foreign request, no breach of the policy').toEqual([]);
        });
      }
    });
  }
}
