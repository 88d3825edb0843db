import { expect, test } from '@playwright/test';
import { open } from './window';

const ATTACKS = [
  '![x](http://localhost:4999/a.png)', '<img src=http://localhost:4999/a.png>', '<iframe src="http://localhost:4999"></iframe>', '[click](http://localhost:4999/?q=1)', '[click](javascript:alert(1))', '<script>alert(1)</script>',
  '<style>body{display:none}</style>', '<p style="position:fixed;inset:0">x</p>', '<form action="http://localhost:4999"><button>Approve once</button></form>', '<meta http-equiv="refresh" content="0;url=http://localhost:4999">',
  '<svg><image href="http://localhost:4999/a.svg"/></svg>', '<link rel=stylesheet href=http://localhost:4999/a.css>', '<a href="http://localhost:4999" ping="http://localhost:4999">x</a>', '<video src=http://localhost:4999/a.mp4 autoplay></video>', '<object data="http://localhost:4999"></object>', '<base href="http://localhost:4999/">',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>', '\u202Etxt.exe', '| a |\n| :-: |\n| <img src=x> |',
];

test('an answer of a model loads nothing, sends nothing and cannot be clicked', async ({ page }) => {
  const faults = await open(page, '#/tasks/t-done');
  await page.evaluate(() => undefined);
  const goal = ATTACKS.join('\n\n');
  // The recorded core answers any other goal in words; here the words are the attack.
  await page.evaluate(() => (window.location.hash = '#/tasks'));
  await page.getByTestId('goal-input').fill(goal);
  await page.getByTestId('goal-send').click();
  await expect(page.getByTestId('task-status')).toHaveAttribute('data-status', 'completed', { timeout: 20_000 });
  await page.waitForTimeout(500);
  const acting = await page.locator('.md').evaluateAll((nodes) => nodes.flatMap((node) => [...node.querySelectorAll('*')].filter((one) => one.attributes.length > 0 || ['A', 'IMG', 'IFRAME', 'SCRIPT', 'STYLE', 'FORM', 'INPUT', 'BUTTON', 'SVG', 'META', 'LINK', 'VIDEO', 'OBJECT', 'BASE'].includes(one.tagName.toUpperCase())).map((one) => one.outerHTML)));
  expect(acting, 'only plain tags without attributes').toEqual([]);
  await expect(page.locator('.md').first()).toContainText('http://localhost:4999/?q=1');
  expect(new URL(page.url()).origin, 'the window stayed where it is').toBe('http://localhost:4173');
  expect(faults.list.filter((fault) => fault.startsWith('request')), 'zero requests').toEqual([]);
});
