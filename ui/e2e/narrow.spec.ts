import { expect, test } from '@playwright/test';
import { expectAccessible, expectNothingCut, open, ready } from './window';

const PAGES = ['#/tasks', '#/tasks/t-run', '#/tasks/t-done', '#/inbox', '#/inbox/a-report', '#/inbox/a-payees', '#/inbox/a-done', '#/files/台账/小满餐饮-2026Q3.csv', '#/automations/s-overdue', '#/settings/models', '#/settings/data'];

for (const [what, width, height] of [['the smallest window', 900, 600], ['200 % zoom', 640, 400], ['just below the rail', 1119, 760]] as const) {
  for (const lang of ['en', 'zh-CN'] as const) {
    test(`${what}, ${lang}: everything is there`, async ({ page }) => {
      await page.setViewportSize({ width, height });
      for (const hash of PAGES) {
        await open(page, hash, { lang });
        await page.waitForTimeout(250);
        await expectNothingCut(page, hash);
        await page.screenshot({ path: `e2e/shots/narrow-${width}-${hash.replaceAll(/[^\w-]+/g, '_')}-${lang}.png` });
      }
      await expectAccessible(page, what);
      await open(page, '', { lang }, 'first-run');
      await expectNothingCut(page, 'first run');
      await expect(page.getByTestId('first-run-start')).toBeVisible();
    });
  }
}

test('the card is decided at 200 % zoom, with its footer in view', async ({ page }) => {
  await page.setViewportSize({ width: 640, height: 400 });
  await open(page, '#/inbox/a-report');
  const main = page.getByTestId('approve-button');
  await expect(main).toBeInViewport({ ratio: 1 });
  for (let turn = 0; turn < 10 && (await main.getAttribute('data-action')) === 'next'; turn += 1) {
    await ready(page);
    await main.click();
    await page.waitForTimeout(700);
  }
  await expect(main).toHaveAttribute('data-action', 'approve');
  await expect(main).toBeInViewport({ ratio: 1 });
  await page.getByRole('button', { name: 'Details' }).click();
  await expect(page.locator('[data-region="rail"]')).toContainText('171,717.00');
  await page.keyboard.press('Escape');
});

test('text at 150 % cuts nothing', async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem('pilot.textsize', '150'));
  for (const hash of PAGES) {
    await open(page, hash, { lang: 'en' });
    await page.waitForTimeout(200);
    await expectNothingCut(page, hash);
  }
});

test('with reduced motion nothing moves', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await open(page, '#/tasks/t-run', {}, 'workspace=ws-q3');
  expect(await page.evaluate(() => document.getAnimations().length), 'no animation').toBe(0);
});
