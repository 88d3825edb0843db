/** What every test of the window uses: opening it at a place, and what must hold on every page. */
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

export type Look = { lang?: 'en' | 'zh-CN'; theme?: 'light' | 'dark' };

/** The day of the recordings. */
const NOW = new Date('2026-11-30T06:30:00Z');

/** Faults of a page: errors of scripts, of the console, and of the policy. */
export class Faults {
  readonly list: string[] = [];

  constructor(page: Page) {
    page.on('pageerror', (error) => this.list.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if ((message.type() === 'error' || message.type() === 'warning') && !message.text().includes('favicon')) this.list.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith('http://localhost:4173/')) this.list.push(`request: ${request.url()}`);
    });
  }
}

/** Opens the window at a place. `query` goes to the recorded core. */
export async function open(page: Page, hash: string, look: Look = {}, query = ''): Promise<Faults> {
  const faults = new Faults(page);
  await page.clock.setFixedTime(NOW);
  await page.addInitScript(() => {
    // As in the real window.
    Object.freeze(Object.prototype);
    localStorage.setItem('pilot.tray-notice', 'seen');
    document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.effectiveDirective} ${event.blockedURI}`));
  });
  const parts = [`lang=${look.lang ?? 'en'}`, `theme=${look.theme ?? 'light'}`, 'speed=0.1', query].filter((part) => part !== '');
  await page.goto(`/?${parts.join('&')}${hash}`);
  await expect(page.locator('main')).toBeVisible();
  return faults;
}

/** No fault of accessibility by axe, wcag2a to wcag22aa. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  const result = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']).analyze();
  const found = result.violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => `${node.target.join(' ')} (${node.any[0]?.message ?? violation.help})`).join('; ')}`);
  expect(found, `${what}: no violation`).toEqual([]);
}

/** No text is cut off and nothing pushes the page wider than the window, but for marked scrollers. */
export async function expectNothingCut(page: Page, what: string): Promise<void> {
  const cut = await page.evaluate(() => {
    const out: string[] = [];
    if (document.documentElement.scrollWidth > document.documentElement.clientWidth + 1) out.push('the page is wider than the window');
    for (const node of document.querySelectorAll<HTMLElement>('button, h1, h2, h3, p, dd, dt, li, label, .pill')) {
      if (node.offsetParent === null || node.closest('.sr, .ell, [aria-hidden="true"]')) continue;
      const style = getComputedStyle(node);
      if (style.overflowX === 'visible' && node.scrollWidth > node.clientWidth + 2 && style.display !== 'inline' && node.clientWidth > 0 && !node.querySelector('.ell') && !node.closest('.ell')) {
        const box = node.getBoundingClientRect();
        const parent = node.parentElement?.getBoundingClientRect();
        if (parent && box.left + node.scrollWidth > parent.right + 2) out.push(`${node.tagName}.${node.className}: ${node.textContent?.trim().slice(0, 40)}`);
      }
    }
    return out;
  });
  expect(cut, `${what}: nothing is cut`).toEqual([]);
}

/** The main button, once its dead time is over. */
export async function ready(page: Page): Promise<void> {
  await expect(page.getByTestId('approve-button')).toHaveAttribute('aria-disabled', 'false');
}
