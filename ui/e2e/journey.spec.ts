import { expect, test } from '@playwright/test';
import { open, ready } from './window';

test('from the first start to an undone report', async ({ page }) => {
  const faults = await open(page, '', { lang: 'zh-CN' }, 'first-run');
  await expect(page.getByTestId('first-run-demo')).toBeChecked();
  await page.getByTestId('first-run-start').click();
  await expect(page.getByTestId('goal-input')).toHaveValue('汇总本文件夹的发票');
  await expect(page.getByTestId('goal-input')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('task-status')).toHaveAttribute('data-status', 'waiting_approval', { timeout: 15_000 });
  await expect(page.getByTestId('analysis-facts')).toContainText('38,262.20');
  await page.getByTestId('review-card').click();
  await ready(page);
  await page.getByTestId('approve-button').click();
  await expect(page.getByTestId('approval-card')).toHaveAttribute('data-state', 'done');
  await page.getByRole('button', { name: '查看任务' }).click();
  await expect(page.getByTestId('task-status')).toHaveAttribute('data-status', 'completed', { timeout: 15_000 });
  await expect(page.getByTestId('artifact-row')).toHaveCount(1);
  await page.getByTestId('artifact-undo').click();
  await expect(page.getByRole('dialog')).toContainText('撤销会把它从文件夹移除');
  await page.getByTestId('undo-confirm').click();
  await expect(page.getByTestId('artifact-row')).toHaveAttribute('data-undo', 'undone');
  expect(faults.list, 'no fault').toEqual([]);
});

test('content goes to an online model only after a yes in words', async ({ page }) => {
  await open(page, '#/tasks');
  await page.getByTestId('model-chip').click();
  await page.getByRole('menuitemradio', { name: /example-cloud/ }).click();
  await page.getByTestId('goal-input').fill('Summarise the invoices in this folder');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toContainText('api.example.com');
  await page.getByTestId('consent-no').click();
  await expect(page.getByTestId('goal-input')).toHaveValue('Summarise the invoices in this folder');
  await page.getByTestId('goal-send').click();
  await page.getByTestId('consent-yes').click();
  await expect(page.getByTestId('task-status')).toBeVisible();
});

test('a running task is stopped by Esc twice', async ({ page }) => {
  await open(page, '#/tasks/t-run', {}, 'workspace=ws-q3');
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('task-stop')).toContainText('Press Esc again');
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('task-status')).toHaveAttribute('data-status', 'cancelled');
});

test('an interrupted task goes on', async ({ page }) => {
  await open(page, '#/tasks/t-cut', {}, 'workspace=ws-q3');
  await page.getByTestId('task-resume').click();
  await expect(page.getByTestId('task-status')).toHaveAttribute('data-status', 'running');
});

test('language, theme, places and regions are reached by keys', async ({ page }) => {
  await open(page, '#/tasks');
  await page.keyboard.press('Control+Shift+L');
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await page.keyboard.press('Control+1');
  await expect(page.getByTestId('nav-inbox')).toHaveAttribute('aria-current', 'page');
  await page.keyboard.press('Control+3');
  await expect(page.getByTestId('nav-files')).toHaveAttribute('aria-current', 'page');
  await page.keyboard.press('Control+6');
  await expect(page.getByTestId('nav-settings')).toHaveAttribute('aria-current', 'page');
  await page.keyboard.press('Control+n');
  await expect(page.getByTestId('goal-input')).toBeFocused();
  await page.getByTestId('theme-switch').click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.keyboard.press('F6');
  const inNav = await page.evaluate(() => document.activeElement?.closest('[data-region]')?.getAttribute('data-region'));
  expect(inNav, 'the next region').toBe('nav');
  await page.keyboard.press('Control+=');
  expect(await page.evaluate(() => document.documentElement.style.fontSize), 'larger text').toBe('15.4px');
});

test('the tree is walked by arrows and a file becomes a task', async ({ page }) => {
  await open(page, '#/files', {}, 'workspace=ws-demo');
  await page.locator('[role="treeitem"]').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('[data-path="台账/小满餐饮-2026Q3.csv"]')).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('file-preview')).toContainText('小满样例餐饮店');
  await page.locator('[data-path="台账/小满餐饮-2026Q3.csv"]').focus();
  await page.keyboard.press('Control+Enter');
  await expect(page.getByTestId('goal-input')).toHaveValue(/小满餐饮/);
});

test('a place is there again after a reload', async ({ page }) => {
  await open(page, '#/inbox/a-ledger');
  await expect(page.getByTestId('approval-card')).toHaveAttribute('data-approval', 'a-ledger');
  await page.reload();
  await expect(page.getByTestId('approval-card')).toHaveAttribute('data-approval', 'a-ledger');
});
