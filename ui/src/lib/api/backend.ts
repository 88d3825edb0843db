/** Which core this build talks to. The choice is made when building, so the window's build holds no recordings. */
import type { Backend } from './client';

export async function openBackend(): Promise<Backend> {
  if (import.meta.env.MODE === 'memory') {
    const { openMemoryBackend } = await import('./memory');
    return openMemoryBackend(new URLSearchParams(location.search));
  }
  const { tauriBackend } = await import('./tauri');
  return tauriBackend;
}
