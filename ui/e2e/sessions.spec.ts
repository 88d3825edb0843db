import { expect, test, type Page } from '@playwright/test';
import { expectAccessible, expectNothingCut, open } from './window';

/** Conversations, deletion, backups: each screen in both languages and themes, and what the buttons do. */
const menu = async (page: Page, item: string): Promise<void> => {
  await page.getByTestId('task-menu').click();
  await page.getByTestId(item).click();
};

const SCREENS: { name: string; hash: string; query?: string; then?: (page: Page) => Promise<void> }[] = [
  { name: '11-conversations', hash: '#/tasks', query: 'workspace=ws-q3', then: async (page) => page.getByTestId('session-search').scrollIntoViewIfNeeded() },
  { name: '11-conversation', hash: '#/tasks/t-report', query: 'workspace=ws-q3' },
  { name: '11-conversation-ended', hash: '#/tasks/t-refused', query: 'workspace=ws-q3' },
  { name: '11-task-menu', hash: '#/tasks/t-done', then: async (page) => page.getByTestId('task-menu').click() },
  { name: '11-rename', hash: '#/tasks/t-done', then: async (page) => { await menu(page, 'session-rename'); await expect(page.getByTestId('session-title')).toBeFocused(); } },
  { name: '11-again', hash: '#/tasks/t-done', then: async (page) => { await menu(page, 'task-again-files'); await page.getByTestId('again-file').first().check(); } },
  { name: '11-delete', hash: '#/tasks/t-done', then: async (page) => { await menu(page, 'task-delete'); await expect(page.getByTestId('delete-confirm')).toBeVisible(); } },
  { name: '11-folder-gone', hash: '#/tasks', query: 'gone=ws-demo' },
  { name: '12-keep', hash: '#/settings/data', then: async (page) => page.getByTestId('support-save').scrollIntoViewIfNeeded() },
  { name: '12-clear', hash: '#/settings/data', then: async (page) => { await page.getByTestId('undo-clear').click(); await expect(page.getByTestId('clear-confirm')).toBeVisible(); } },
  { name: '12-restore', hash: '#/settings/data', then: async (page) => { await page.getByTestId('backup-choose').click(); await expect(page.getByTestId('restore-confirm')).toBeVisible(); } },
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
          await expectAccessible(page, screen.name);
          await expectNothingCut(page, screen.name);
          expect(faults.list, 'no error, no foreign request, no breach of the policy').toEqual([]);
        });
      }
    });
  }
}

test('a conversation is continued, renamed, put away and found again', async ({ page }) => {
  const faults = await open(page, '#/tasks/t-done', {}, '');
  await page.getByTestId('follow-input').fill('What can you do?');
  await page.getByTestId('follow-send').click();
  await expect(page, 'the new turn is open').toHaveURL(/t-new-/);
  await expect(page.getByTestId('turn'), 'the turn before stands above it').toHaveCount(1);
  await expect(page.getByTestId('task-status')).toHaveAttribute('data-status', 'completed');
  await menu(page, 'session-rename');
  await page.getByTestId('session-title').fill('September invoices');
  await page.getByTestId('session-title').press('Enter');
  await expect(page.getByRole('heading', { level: 1 }), 'renamed in its place').toHaveText('September invoices');
  await menu(page, 'session-archive');
  await page.getByTestId('nav-tasks').click();
  await expect(page.getByTestId('session-row').filter({ hasText: 'September invoices' }), 'out of sight').toHaveCount(0);
  await page.getByRole('button', { name: 'Archived' }).click();
  await expect(page.getByTestId('session-row').filter({ hasText: 'September invoices' }), 'behind its filter').toHaveCount(1);
  await page.getByTestId('session-search').fill('nothing of this kind');
  await expect(page.getByText('No conversation with these words.')).toBeVisible();
  expect(faults.list, 'no fault on the way').toEqual([]);
});

test('a task is deleted only after it was said what goes', async ({ page }) => {
  await open(page, '#/tasks/t-done', {}, '');
  await menu(page, 'task-delete');
  const dialog = page.getByRole('dialog');
  await expect(dialog, 'it says what goes').toContainText('entries of the record become empty');
  await expect(dialog, 'and what stays').toContainText('log chain');
  await page.getByTestId('delete-confirm').click();
  await expect(page.locator('[data-task="t-done"]'), 'then it is gone from the list').toHaveCount(0);
});
