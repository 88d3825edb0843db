import { expect, test, type Page } from '@playwright/test';
import { expectAccessible, expectNothingCut, open } from './window';

/** Models: found on this computer, set up from a preset, tried, chosen for a folder, counted. */
const SCREENS: { name: string; hash: string; query: string; then?: (page: Page) => Promise<void> }[] = [
  { name: '11-first-run-local', hash: '', query: 'first-run&local', then: async (page) => page.getByTestId('first-run-local').first().getByRole('radio').check() },
  { name: '11-models-found', hash: '#/settings/models', query: 'local' },
  { name: '11-models-tested', hash: '#/settings/models', query: '', then: async (page) => { await page.getByTestId('row-test').first().click(); await expect(page.getByTestId('test-result')).toBeVisible(); } },
  { name: '11-models-refused', hash: '#/settings/models', query: 'test=provider_unauthorized', then: async (page) => { await page.getByTestId('row-test').last().click(); await expect(page.getByTestId('test-result')).toHaveAttribute('data-code', 'provider_unauthorized'); } },
  { name: '11-models-gallery', hash: '#/settings/models', query: '', then: async (page) => { await page.getByTestId('provider-add').click(); await page.getByTestId('preset-anthropic').click(); } },
  { name: '11-models-dialog', hash: '#/settings/models', query: 'test=no_call', then: async (page) => { await page.getByTestId('provider-add').click(); await page.getByTestId('preset-ollama').click(); await page.getByTestId('provider-models').click(); await expect(page.getByTestId('model-select')).toBeVisible(); await page.getByTestId('provider-test').click(); await expect(page.getByTestId('test-result')).toBeVisible(); await page.getByTestId('test-result').scrollIntoViewIfNeeded(); } },
  { name: '11-models-usage', hash: '#/settings/models', query: '', then: async (page) => { await page.getByTestId('usage-period').getByRole('button').last().click(); await page.getByTestId('usage-table').scrollIntoViewIfNeeded(); } },
];

for (const lang of ['en', 'zh-CN'] as const) {
  for (const theme of ['light', 'dark'] as const) {
    test.describe(`${lang}, ${theme}`, () => {
      for (const screen of SCREENS) {
        test(screen.name, async ({ page }) => {
          await page.emulateMedia({ reducedMotion: 'reduce' });
          const faults = await open(page, screen.hash, { lang, theme }, screen.query);
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

test('a server that was found does the thinking from the first page on', async ({ page }) => {
  await open(page, '', {}, 'first-run&local');
  const local = page.getByTestId('first-run-local');
  await expect(local).toHaveCount(3);
  await expect(local.last().getByRole('radio'), 'one that still loads cannot be chosen').toBeDisabled();
  await expect(page.getByTestId('first-run-helper'), 'the helper is chosen before').toBeChecked();
  await local.nth(1).getByRole('radio').check();
  await page.getByTestId('first-run-start').click();
  await expect(page.getByTestId('model-chip')).toContainText('qwen2.5-7b-instruct');
});

test('looking ends, and is done again when asked', async ({ page }) => {
  await open(page, '#/settings/models', {}, 'local');
  await expect(page.getByTestId('look-again'), 'it does not look for ever').toBeVisible();
  await expect(page.getByTestId('local-server')).toHaveCount(3);
  await page.getByTestId('local-server').nth(1).getByTestId('local-set-up').click();
  await expect(page.getByTestId('provider-name')).toHaveValue('LM Studio');
  await expect(page.getByTestId('provider-model')).toHaveValue('qwen2.5-7b-instruct');
  await page.getByTestId('provider-save').click();
  await expect(page.getByTestId('local-server').nth(1), 'what is set up is not offered again').not.toContainText('Set up');
});

test('a preset fills the form, and the provider is listed', async ({ page }) => {
  await open(page, '#/settings/models');
  await page.getByTestId('provider-add').click();
  await page.getByTestId('preset-anthropic').click();
  await expect(page.getByTestId('provider-name')).toHaveValue('Anthropic');
  await expect(page.getByTestId('provider-url')).toHaveValue('https://api.anthropic.com/v1');
  await expect(page.getByTestId('provider-kind').getByRole('button', { name: 'Anthropic' })).toHaveAttribute('aria-pressed', 'true');
  await page.getByTestId('provider-key').fill('a key');
  await page.getByTestId('provider-models').click();
  await page.getByTestId('model-select').selectOption('example-large');
  await expect(page.getByTestId('provider-model')).toHaveValue('example-large');
  await page.getByTestId('provider-save').click();
  await expect(page.getByTestId('provider-row').last()).toContainText('example-large');
});

test('each folder has its own model', async ({ page }) => {
  await open(page, '#/settings/models');
  const choices = page.getByTestId('workspace-model');
  await expect(choices).toHaveCount(2);
  await choices.first().selectOption('ollama');
  await expect(page.getByTestId('model-chip'), 'the folder that is shown changed').toContainText('qwen3:8b');
  await choices.last().selectOption('offline');
  await expect(page.getByTestId('model-chip'), 'the other one changed alone').toContainText('qwen3:8b');
});

test('another address says that the key will not go with it', async ({ page }) => {
  await open(page, '#/settings/models');
  await page.getByTestId('provider-row').last().getByRole('button', { name: /^Change/ }).click();
  await page.getByTestId('provider-url').fill('https://other.example.com/v1');
  await expect(page.getByText('the saved key is removed when you save')).toBeVisible();
});
