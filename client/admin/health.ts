/** Whether the server answers, by the last of all questions of a control room. */
"use client";
import { useSyncExternalStore } from "react";
import { type AdminClient, type Trouble, troubleOf } from "./admin-client.js";

export interface Health {
  /** `wrong` is never here: such a question was answered. */
  trouble: Exclude<Trouble, "wrong"> | undefined;
  /** When the server answered last, epoch ms of this machine; `undefined` for never. */
  answeredAt: number | undefined;
}

export interface HealthStore {
  subscribe(onChange: () => void): () => void;
  read(): Health;
}

/** The same client, and what its answers say of the server. */
export function withHealth(client: AdminClient): { client: AdminClient; health: HealthStore } {
  const listeners = new Set<() => void>();
  let state: Health = UNKNOWN;

  function set(next: Health): void {
    state = next;
    for (const listener of listeners) listener();
  }
  async function watched<T>(
    answer: Promise<T>,
    signal: AbortSignal,
    isAnswer: (trouble: Trouble) => boolean = (trouble) => trouble === "wrong",
  ): Promise<T> {
    try {
      const result = await answer;
      set({ trouble: undefined, answeredAt: Date.now() });
      return result;
    } catch (error) {
      const trouble = troubleOf(error);
      if (!signal.aborted && !isAnswer(trouble)) {
        set({ ...state, trouble: trouble === "wrong" ? undefined : trouble });
      }
      throw error;
    }
  }

  return {
    client: {
      limits: (signal) => watched(client.limits(signal), signal),
      list: (input, signal) => watched(client.list(input, signal), signal),
      // A caller may see the others, and not this one.
      key: (input, signal) => watched(client.key(input, signal), signal, isOfKey),
      usage: (input, signal) => watched(client.usage(input, signal), signal),
      denials: (input, signal) => watched(client.denials(input, signal), signal),
      // What may be asked and what may be done are different rights.
      change: (action, input) => client.change(action, input),
    },
    health: {
      subscribe(onChange) {
        listeners.add(onChange);
        return () => listeners.delete(onChange);
      },
      read: () => state,
    },
  };
}

const isOfKey = (trouble: Trouble) => trouble === "wrong" || trouble === "refused";

const UNKNOWN: Health = { trouble: undefined, answeredAt: undefined };

export function useHealth(health: HealthStore): Health {
  return useSyncExternalStore(health.subscribe, health.read, () => UNKNOWN);
}
