/** The core behind the window of the desktop. The only file that imports `@tauri-apps/*`. */
import { invoke } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';
import { errorView, PilotError, type ArgumentsOf, type Backend, type CommandName, type ResultOf } from './client';
import type { WindowEvent } from './generated/WindowEvent';

const CHANNEL = 'pilot';

export const tauriBackend: Backend = {
  async call<K extends CommandName>(name: K, ...request: ArgumentsOf<K>): Promise<ResultOf<K>> {
    try {
      return await invoke<ResultOf<K>>(name, request.length > 0 ? { request: request[0] } : {});
    } catch (thrown) {
      throw new PilotError(errorView(thrown));
    }
  },
  listen(handler) {
    return listen<WindowEvent>(CHANNEL, (event) => handler(event.payload));
  },
};
