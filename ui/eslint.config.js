import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

const TAURI = { group: ['@tauri-apps/*'], message: 'Only lib/api/tauri.ts talks to the window of the desktop.' };
const up = (room) => ({ regex: `(^|/)${room}(/|$)`, message: `This room does not know ${room}.` });

export default ts.config(
  { ignores: ['dist', 'dist-memory', 'node_modules', 'src/lib/api/generated', 'test-results', 'playwright-report'] },
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser } } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
  },
  {
    files: ['src/**/*.{ts,svelte}'],
    rules: {
      'no-restricted-imports': ['error', { patterns: [TAURI] }],
      'no-console': 'error',
      'svelte/no-at-html-tags': 'error',
      // The window's policy knows no inline style; a style directive sets a property and is fine.
      'no-restricted-syntax': ['error', { selector: 'SvelteAttribute[key.name="style"]', message: 'No style attributes: the policy of the window forbids them.' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': 'off',
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  { files: ['src/lib/api/tauri.ts'], rules: { 'no-restricted-imports': 'off' } },
  // shared/ knows no domain, no state and no view; a domain knows no other domain and no view; lib/ knows nothing above it.
  { files: ['src/shared/**'], rules: { 'no-restricted-imports': ['error', { patterns: [TAURI, up('domains'), up('views'), up('state')] }] } },
  { files: ['src/lib/**'], ignores: ['src/lib/api/tauri.ts'], rules: { 'no-restricted-imports': ['error', { patterns: [TAURI, up('shared'), up('domains'), up('views')] }] } },
  ...['approvals', 'tasks', 'artifacts', 'workspace', 'people', 'settings'].map((own, _index, all) => ({
    files: [`src/domains/${own}/**`],
    rules: {
      'no-restricted-imports': ['error', { patterns: [TAURI, up('views'), ...all.filter((other) => other !== own).map((other) => up(`\\.\\./${other}`))] }],
    },
  })),
);
