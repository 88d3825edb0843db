import { expect, test } from '@playwright/test';
import { expectAccessible, expectNothingCut, open } from './window';

test('a schedule is made with its next runs in view, paused, run and removed', async ({ page }) => {
  const faults = await open(page, '#/tasks');
  await page.keyboard.press('Control+4');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Automations');
  await page.getByTestId('schedule-new').click();
  await page.getByTestId('schedule-rule').fill('0 25 * * *');
  await expect(page.getByTestId('schedule-problem'), 'the field is named').toContainText('field 2: 25 is not an hour');
  await expect(page.getByTestId('schedule-save')).toHaveAttribute('aria-disabled', 'true');
  await page.getByTestId('schedule-rule').fill('0 9 * * 1');
  await expect(page.getByTestId('schedule-preview')).toContainText('Monday at 09:00');
  await expect(page.getByTestId('schedule-preview').getByRole('row'), 'five times and their heading').toHaveCount(6);
  await page.getByTestId('schedule-save').click();
  await expect(page.getByTestId('schedule-goal'), 'a goal is asked for').toHaveAttribute('aria-invalid', 'true');
  await page.getByTestId('schedule-goal').fill('List what is overdue');
  await page.getByTestId('schedule-save').click();
  const row = page.getByTestId('schedule-row').filter({ hasText: 'List what is overdue' });
  await expect(row.getByTestId('next-runs'), 'the new one is open').toBeVisible();
  await row.getByTestId('schedule-switch').click();
  await expect(row.getByTestId('schedule-state')).toHaveText('Off');
  await row.getByTestId('schedule-remove').click();
  await page.getByTestId('schedule-remove-confirm').click();
  await expect(row).toHaveCount(0);
  expect(faults.list).toEqual([]);
});

test('a token is shown once, tested, and gone when the dialog closes', async ({ page }) => {
  const faults = await open(page, '#/automations');
  await page.getByTestId('channel-new').click();
  await page.getByTestId('channel-name').fill('Scanner');
  await page.getByTestId('channel-save').click();
  const token = await page.getByTestId('channel-token').inputValue();
  expect(token, 'a whole token').toMatch(/^ppt_[0-9a-f]{64}$/);
  await expect(page.getByTestId('curl').last()).toContainText('http://127.0.0.1:8765/api/channels/');
  await expect(page.getByTestId('curl').last(), 'the example does not hold it').not.toContainText(token);
  await page.getByTestId('channel-test').click();
  await expect(page.getByTestId('channel-tested')).toBeVisible();
  await page.getByTestId('channel-done').click();
  const row = page.getByTestId('channel-row').filter({ hasText: 'Scanner' });
  await expect(row).toContainText('1 accepted');
  expect(await page.content(), 'nothing of it is left in the page').not.toContain(token);
  await row.getByTestId('channel-revoke').click();
  await page.getByTestId('channel-revoke-confirm').click();
  await expect(row).toHaveCount(0);
  await page.getByTestId('automations-pause').click();
  await expect(page.getByTestId('automations-paused')).toBeVisible();
  expect(faults.list).toEqual([]);
});

const SCREENS: { name: string; hash: string; query?: string; then?: (page: import('@playwright/test').Page) => Promise<void> }[] = [
  { name: '11-automations', hash: '#/automations/s-overdue' },
  { name: '11-automations-notes', hash: '#/automations/s-prices' },
  { name: '11-automations-empty', hash: '#/automations', query: 'empty' },
  { name: '11-automations-error', hash: '#/automations', query: 'fail=automation_state:database_locked' },
  { name: '11-schedule-editor', hash: '#/automations', then: async (page) => { await page.getByTestId('schedule-new').click(); await expect(page.getByTestId('next-runs')).toBeVisible(); } },
  { name: '11-schedule-problem', hash: '#/automations', then: async (page) => { await page.getByTestId('schedule-new').click(); await page.getByTestId('schedule-rule').fill('0 25 * * *'); await expect(page.getByTestId('schedule-problem')).toBeVisible(); } },
  { name: '11-token', hash: '#/automations', then: async (page) => { await page.getByTestId('channel-new').click(); await page.getByTestId('channel-name').fill('Scanner'); await page.getByTestId('channel-save').click(); await expect(page.getByTestId('channel-token')).toBeVisible(); } },
];

for (const lang of ['en', 'zh-CN'] as const) {
  for (const theme of ['light', 'dark'] as const) {
    for (const screen of SCREENS) {
      test(`${screen.name}, ${lang}, ${theme}`, async ({ page }) => {
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
  }
}
