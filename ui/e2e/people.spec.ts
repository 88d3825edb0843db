import { expect, test, type Page } from '@playwright/test';
import { expectAccessible, expectNothingCut, open } from './window';

/** Memory, skills and added files, in both languages and both themes. */
const SCREENS: { name: string; hash: string; query?: string; then?: (page: Page) => Promise<void> }[] = [
  { name: '11-memory', hash: '#/memory' },
  { name: '11-memory-empty', hash: '#/memory', query: 'workspace=ws-q3' },
  { name: '11-memory-broken', hash: '#/memory', query: 'memory-broken' },
  { name: '11-memory-editing', hash: '#/memory', then: async (page) => { await page.getByTestId('memory-edit').click(); await page.getByTestId('memory-editor').press('End'); await page.getByTestId('memory-editor').pressSequentially('!'); await expect(page.getByTestId('memory-meter')).toContainText(/unsaved|未保存/); } },
  { name: '11-memory-long', hash: '#/memory', then: async (page) => { await page.getByTestId('memory-edit').click(); await page.getByTestId('memory-editor').fill('- 一条很旧的记忆。\n'.repeat(500)); await expect(page.getByTestId('memory-meter')).toContainText(/cut|截去/); } },
  { name: '11-memory-preview', hash: '#/memory', then: async (page) => { await page.getByTestId('memory-edit').click(); await page.getByTestId('memory-editor-mode').getByRole('button').nth(1).click(); } },
  { name: '11-memory-given', hash: '#/memory', then: async (page) => { await page.getByTestId('memory-given').click(); await expect(page.getByRole('dialog')).toBeVisible(); } },
  { name: '11-memory-history', hash: '#/memory', then: async (page) => { await page.getByTestId('memory-history').click(); await page.getByTestId('memory-version').nth(1).click(); await page.getByTestId('memory-restore').click(); await expect(page.getByTestId('memory-restore-confirm')).toBeVisible(); } },
  { name: '11-memory-leave', hash: '#/memory', then: async (page) => { await page.getByTestId('memory-edit').click(); await page.getByTestId('memory-editor').fill('x'); await page.getByTestId('nav-inbox').click(); await expect(page.getByTestId('leave-stay')).toBeVisible(); } },
  { name: '12-skills', hash: '#/memory/skills/workspace/quote-compare', then: async (page) => expect(page.getByTestId('skill-edit')).toBeVisible() },
  { name: '12-skills-broken', hash: '#/memory/skills/workspace/old-notes', then: async (page) => expect(page.getByTestId('skill-edit')).toBeVisible() },
  { name: '12-skills-new', hash: '#/memory/skills', then: async (page) => { await page.getByTestId('skill-new').click(); await page.getByTestId('skill-editor').fill('x'); await page.getByTestId('skill-save').click(); await expect(page.getByText('skill_no_header')).toBeVisible(); } },
  { name: '12-skills-remove', hash: '#/memory/skills/workspace/overdue', then: async (page) => { await page.getByTestId('skill-remove').click(); await expect(page.getByTestId('skill-remove-confirm')).toBeVisible(); } },
  { name: '13-drop-overlay', hash: '#/files', query: 'dragged=3', then: async (page) => expect(page.getByTestId('drop-overlay')).toBeVisible() },
  { name: '13-files-changed', hash: '#/files/邮件/0918-对账.md', query: `watch=told&file-changed=${encodeURIComponent('邮件/0918-对账.md')}`, then: async (page) => { await expect(page.getByTestId('file-changed')).toBeVisible(); await expect(page.getByTestId('files-watch')).toBeVisible(); } },
  { name: '13-files-looked', hash: '#/files', query: 'watch=looked', then: async (page) => expect(page.getByTestId('files-watch')).toBeVisible() },
  { name: '13-upload-ask', hash: '#/files', then: async (page) => { await page.getByTestId('files-add').click(); await expect(page.getByTestId('upload-choice')).toBeVisible(); } },
  { name: '13-upload-running', hash: '#/files', query: 'upload-slow', then: async (page) => { await page.getByTestId('files-add').click(); await page.getByTestId('upload-start').click(); await expect(page.getByTestId('upload-progress')).toBeVisible(); } },
  { name: '13-upload-done', hash: '#/files', then: async (page) => { await page.getByTestId('files-add').click(); await page.getByTestId('upload-choice').selectOption('replace'); await page.getByTestId('upload-start').click(); await expect(page.getByTestId('upload-undo').first()).toBeVisible(); } },
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

test.describe('narrow', () => {
  test.use({ viewport: { width: 900, height: 600 } });
  for (const [name, hash] of [['memory', '#/memory'], ['skills', '#/memory/skills/workspace/overdue']] as const) {
    test(name, async ({ page }) => {
      const faults = await open(page, hash, { lang: 'zh-CN' });
      await page.waitForTimeout(350);
      await page.screenshot({ path: `e2e/shots/14-narrow-${name}.png` });
      await expectNothingCut(page, name);
      expect(faults.list, 'no fault').toEqual([]);
    });
  }
});

test('a draft survives a reload, and leaving asks', async ({ page }) => {
  await open(page, '#/memory');
  await page.getByTestId('memory-edit').click();
  await page.getByTestId('memory-editor').fill('words that nobody saved\n');
  await page.reload();
  await expect(page.getByTestId('memory-editor'), 'the draft is there again').toHaveValue('words that nobody saved\n');
  await page.keyboard.press('Control+1');
  await expect(page.getByTestId('leave-stay'), 'leaving asks').toBeVisible();
  await page.getByTestId('leave-stay').click();
  await expect(page.getByTestId('memory-editor'), 'stayed').toBeVisible();
  await page.getByTestId('nav-inbox').click();
  await page.getByTestId('leave-keep').click();
  await expect(page.getByTestId('memory-editor'), 'left').toHaveCount(0);
  await page.keyboard.press('Control+5');
  await expect(page.getByTestId('memory-editor'), 'and the draft waited').toHaveValue('words that nobody saved\n');
  await page.getByTestId('memory-editor').press('Control+s');
  await expect(page.getByTestId('memory-text'), 'saved by key').toContainText('words that nobody saved');
});

test('a skill is made and removed by keyboard, and the removal taken back', async ({ page }) => {
  await open(page, '#/memory/skills');
  await page.getByTestId('skill-new').press('Enter');
  await page.getByTestId('skill-editor').fill('---\nname: greet\ndescription: says hello\n---\nHello.\n');
  await page.getByTestId('skill-editor').press('Control+s');
  await expect(page.locator('[data-skill="workspace/greet"]'), 'made').toHaveAttribute('aria-current', 'true');
  await page.getByTestId('skill-remove').press('Enter');
  await page.getByTestId('skill-remove-confirm').press('Enter');
  await expect(page.locator('[data-skill="workspace/greet"]'), 'removed').toHaveCount(0);
  await page.getByTestId('skill-undo').press('Enter');
  await expect(page.locator('[data-skill="workspace/greet"]'), 'back').toHaveCount(1);
});
