/** Passes the answer of an action to the lists of a control room, so that a row shows the change at once. */
import type { AdminChange } from "./admin-types.js";

type Listener = (name: string, change: AdminChange) => void;

export interface Changes {
  tell: Listener;
  listen(listener: Listener): () => void;
}

export function createChanges(): Changes {
  const listeners = new Set<Listener>();
  return {
    tell(name, change) {
      for (const listener of listeners) listener(name, change);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
