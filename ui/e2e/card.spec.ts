import { expect, test, type Page } from '@playwright/test';
import { open, ready } from './window';

const card = (page: Page) => page.getByTestId('approval-card');
const main = (page: Page) => page.getByTestId('approve-button');
const state = (page: Page) => card(page).getAttribute('data-state');

test('a heavy card is read change by change and approved by the chord, by keyboard alone', async ({ page }) => {
  const faults = await open(page, '#/inbox/a-report');
  await expect(page.locator('h2', { hasText: 'reports/summary-2026-Q3.md' })).toBeFocused();
  await expect(main(page)).toHaveAttribute('data-action', 'next');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+Enter');
  expect(await state(page), 'neither approves what was not seen').toBe('pending');
  for (let turn = 0; turn < 8 && (await main(page).getAttribute('data-action')) === 'next'; turn += 1) {
    await page.keyboard.press('F7');
    await page.waitForTimeout(500);
  }
  await expect(main(page)).toHaveAttribute('data-action', 'approve');
  await expect(main(page)).toContainText('Approve once, 2 figures flagged');
  await ready(page);
  await page.keyboard.press('Enter');
  expect(await state(page), 'Enter alone never approves').toBe('pending');
  await page.keyboard.press('Control+Enter');
  await expect(card(page)).toHaveAttribute('data-state', 'done');
  await expect(page.getByTestId('card-outcome')).toContainText('the same as you approved');
  expect(faults.list, 'no fault').toEqual([]);
});

test('the gate waits for what is below the edge of the screen', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 620 });
  await open(page, '#/inbox/a-report');
  await page.waitForTimeout(1500);
  expect(Number((await page.getByTestId('unseen').textContent())?.match(/\d+/)?.[0]), 'not everything was on screen').toBeGreaterThan(0);
  await expect(main(page)).toHaveAttribute('data-action', 'next');
});

test('a change that is on screen for less than 400 ms does not count', async ({ page }) => {
  await open(page, '#/inbox/a-report', {}, 'large=a-report');
  await expect(page.getByTestId('unseen')).toContainText('2 ');
  await page.evaluate(async () => {
    const scroller = document.querySelector('[data-testid="difference"]')!;
    for (let step = 0; step < 60; step += 1) {
      scroller.scrollTop += 5000;
      await new Promise((done) => setTimeout(done, 20));
    }
  });
  await page.waitForTimeout(200);
  await expect(page.getByTestId('unseen')).toContainText('2 ');
});

test('a very long difference is drawn near the screen only, found and walked as a whole', async ({ page }) => {
  await open(page, '#/inbox/a-report', {}, 'large=a-report');
  const drawn = await page.locator('[data-testid="difference"] [data-index]').count();
  expect(drawn, 'folded and near the screen').toBeLessThan(200);
  await page.keyboard.press('n');
  const whole = await page.locator('[data-testid="difference"] [data-index]').count();
  expect(whole, 'of 6,001 lines only those near the screen').toBeLessThan(200);
  await page.keyboard.press('Control+f');
  await page.getByTestId('find-input').fill('the last line');
  await page.keyboard.press('Enter');
  await expect(page.locator('mark.hit')).toBeInViewport();
  await page.keyboard.press('Escape');
  await page.keyboard.press('d');
  for (let turn = 0; turn < 4 && (await main(page).getAttribute('data-action')) === 'next'; turn += 1) {
    await ready(page);
    await main(page).click();
    await page.waitForTimeout(700);
  }
  await expect(main(page)).toHaveAttribute('data-action', 'approve');
});

test('a card takes no click in the 0.6 s after it appears', async ({ page }) => {
  await open(page, '#/inbox/a-create');
  await main(page).click({ force: true, timeout: 500 }).catch(() => undefined);
  expect(await state(page), 'too early').toBe('pending');
  await ready(page);
  await main(page).click();
  await expect(card(page)).toHaveAttribute('data-state', 'done');
});

test('an input method at work decides nothing', async ({ page }) => {
  await open(page, '#/inbox/a-create');
  await ready(page);
  await page.evaluate(() => document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, isComposing: true, keyCode: 229, bubbles: true })));
  await page.evaluate(() => document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'r', isComposing: true, keyCode: 229, bubbles: true })));
  expect(await state(page), 'nothing').toBe('pending');
  await expect(page.getByTestId('reject-note')).toHaveCount(0);
});

test('the chord does nothing with the focus outside the card', async ({ page }) => {
  await open(page, '#/inbox/a-create');
  await ready(page);
  await page.getByTestId('nav-inbox').focus();
  await page.keyboard.press('Control+Enter');
  expect(await state(page), 'outside').toBe('pending');
});

test('a card is rejected with a note by keyboard', async ({ page }) => {
  await open(page, '#/inbox/a-report');
  await page.waitForTimeout(700);
  await page.keyboard.press('r');
  await expect(page.getByTestId('reject-note')).toBeFocused();
  await page.keyboard.type('September total is wrong');
  await page.keyboard.press('Control+Enter');
  await expect(card(page)).toHaveAttribute('data-state', 'rejected');
  await expect(page.getByTestId('card-outcome')).toContainText('0 bytes changed');
  await expect(page.getByTestId('card-outcome')).toContainText('September total is wrong');
});

test('a flagged figure is mended by one click, checked again and seen again', async ({ page }) => {
  await open(page, '#/inbox/a-report');
  await page.getByRole('button', { name: 'Use 171,717.00' }).click();
  await expect(page.getByRole('button', { name: 'Use 171,717.00' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Remove sentence' }).click();
  await expect(page.getByRole('button', { name: 'Remove sentence' })).toHaveCount(0);
  await page.waitForTimeout(900);
  for (let turn = 0; turn < 8 && (await main(page).getAttribute('data-action')) === 'next'; turn += 1) {
    await page.keyboard.press('F7');
    await page.waitForTimeout(500);
  }
  await expect(main(page)).toContainText('Approve once (with your 1 edit)');
  await ready(page);
  await main(page).click();
  await expect(page.getByTestId('card-outcome')).toContainText('1 argument was edited by you');
});

test('an edit that leaves the folder is refused and cannot be approved', async ({ page }) => {
  await open(page, '#/inbox/a-create');
  await ready(page);
  await page.keyboard.press('e');
  await page.getByTestId('args-field-path').fill('../x.md');
  await expect(page.getByTestId('args-editor')).toContainText('No file was changed');
  await expect(main(page)).toHaveAttribute('aria-disabled', 'true');
  await page.keyboard.press('Control+Enter');
  expect(await state(page), 'still waiting').toBe('pending');
  await page.getByTestId('discard-button').click();
  await expect(main(page)).toHaveAttribute('data-action', 'approve');
});

test('a cell of a workbook is edited, checked again and approved with the edit', async ({ page }) => {
  await open(page, '#/inbox/a-ledger');
  await page.waitForTimeout(700);
  await page.keyboard.press('e');
  await page.getByTestId('args-cell-F9').fill('待核对');
  await expect(page.getByTestId('args-editor')).toContainText('Model’s value: 已付');
  await expect(page.getByTestId('args-editor')).toContainText('Checked again after your edit');
  await page.getByRole('button', { name: 'Done editing' }).click();
  await expect(page.locator('[role="row"][aria-rowindex="9"]')).toContainText('待核对');
  await page.waitForTimeout(800);
  for (let turn = 0; turn < 8 && (await main(page).getAttribute('data-action')) === 'next'; turn += 1) {
    await main(page).click();
    await page.waitForTimeout(700);
  }
  await expect(main(page)).toContainText('with your 1 edit');
  await ready(page);
  await main(page).click();
  await expect(card(page)).toHaveAttribute('data-state', 'done');
});

test('a file that changed meanwhile makes a new card', async ({ page }) => {
  await open(page, '#/inbox/a-create', {}, 'stale=a-create');
  await ready(page);
  await main(page).click();
  await expect(page.getByTestId('stale-banner')).toContainText('Nothing was written');
  await page.getByTestId('open-replacement').click();
  await expect(card(page)).toHaveAttribute('data-state', 'pending');
  await expect(card(page)).not.toHaveAttribute('data-approval', 'a-create');
});

test('a card that was decided elsewhere is read-only', async ({ page }) => {
  await open(page, '#/inbox/a-create', {}, 'decided=a-create');
  await ready(page);
  await main(page).click();
  await expect(page.getByTestId('card-outcome')).toContainText('Already decided');
  await expect(main(page)).toHaveCount(0);
});

test('the inbox is walked by J and K, and a decided card stays where it was', async ({ page }) => {
  await open(page, '#/inbox');
  await expect(card(page)).toHaveAttribute('data-approval', 'a-payees');
  await page.keyboard.press('j');
  await expect(card(page)).toHaveAttribute('data-approval', 'a-create');
  await page.keyboard.press('k');
  await expect(card(page)).toHaveAttribute('data-approval', 'a-payees');
  await page.keyboard.press('j');
  await ready(page);
  await main(page).click();
  await expect(card(page)).toHaveAttribute('data-state', 'done');
  await page.waitForTimeout(1000);
  await expect(card(page)).toHaveAttribute('data-approval', 'a-create');
  await expect(page.getByTestId('inbox-count')).toContainText('5');
});

test('hidden characters are drawn as boxes and counted', async ({ page }) => {
  await open(page, '#/inbox/a-payees');
  await expect(card(page)).toContainText('Hidden characters: 1');
  await page.locator('[data-testid="difference"]').evaluate((node) => (node.scrollTop = node.scrollHeight));
  await expect(page.locator('.hid', { hasText: 'U+202E' }).first()).toBeVisible();
});

test('a wide table must be seen to its side as well', async ({ page }) => {
  await page.setViewportSize({ width: 900, height: 700 });
  await open(page, '#/inbox/a-ledger');
  await expect(main(page)).toHaveAttribute('data-action', 'next');
  await page.waitForTimeout(800);
  for (let turn = 0; turn < 8 && (await main(page).getAttribute('data-action')) === 'next'; turn += 1) {
    await main(page).click();
    await page.waitForTimeout(700);
  }
  await expect(main(page)).toHaveAttribute('data-action', 'approve');
});
