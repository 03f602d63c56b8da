/** Whether the server answers, by the last question of a control room. */
"use client";
import { useSyncExternalStore } from "react";
import { type AdminClient, type Trouble, troubleOf } from "./admin-client.js";

export interface Health {
  /** `wrong` is never here, because the server has answered such a question. */
  trouble: Exclude<Trouble, "wrong"> | undefined;
  /** When the server answered last, epoch ms of this machine; `undefined` for never. */
  answeredAt: number | undefined;
}

export interface HealthStore {
  subscribe(onChange: () => void): () => void;
  read(): Health;
}

/** A client that asks the same, and the health that its answers show. */
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
      // A caller who may not see this key may see other keys, so a refusal is an answer, too.
      key: (input, signal) => watched(client.key(input, signal), signal, isOfKey),
      usage: (input, signal) => watched(client.usage(input, signal), signal),
      denials: (input, signal) => watched(client.denials(input, signal), signal),
      // A server of an older version answers all but this question.
      top: (input, signal) => watched(client.top(input, signal), signal, isOfOlder),
      overrides: (input, signal) => watched(client.overrides(input, signal), signal, isOfOlder),
      changes: (input, signal) => watched(client.changes(input, signal), signal, isOfOlder),
      // Not watched: the right to change something is another right than the right to ask.
      change: (action, input) => client.change(action, input),
      undo: (id) => client.undo(id),
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

const isOfOlder = (trouble: Trouble) => trouble === "wrong" || trouble === "missing";

const UNKNOWN: Health = { trouble: undefined, answeredAt: undefined };

export function useHealth(health: HealthStore): Health {
  return useSyncExternalStore(health.subscribe, health.read, () => UNKNOWN);
}
