import { mount } from 'svelte';
import App from './App.svelte';
import { openBackend } from './lib/api/backend';
import { Pilot } from './lib/state/pilot.svelte';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';

const target = document.getElementById('app');
if (target) {
  const pilot = new Pilot(await openBackend());
  mount(App, { target, props: { pilot } });
}
