/**
 * A React action that knows its limit: for `useActionState`, for the `action` of a form, and for a server
 * function. The queue, the debit and what happens after a denial are those of a limited mutation.
 */
"use client";
import {
  useCallback,
  useEffect,
  useInsertionEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from "react";
import type { RateLimitItem, RateLimitObserver, WhenLimited } from "../../types.js";
import { isRateLimitError } from "../../../core/errors.js";
import { createHeldCalls, isWaitCancelled } from "../../react/held-calls.js";
import { sendLimited } from "../../react/send-limited.js";
import {
  type RateLimitContextValue,
  useLimit,
  type UseRateLimitResult,
} from "../../react/use-limit.js";
import { throwDenials } from "./throw-denials.js";

/** The options of `useRateLimitedAction`. */
export interface RateLimitedActionOptions<TArgs extends unknown[], TResult> {
  /** A key to ask the server for; the server decides whether to answer. @default the visitor's own */
  key?: string | undefined;
  /** Tokens that a call takes, as the server charges them; 0 or more. @default 1 */
  count?: number | ((...args: TArgs) => number);
  /** Whether the server charges for every call, or only for calls that fail. @default "call" */
  on?: "call" | "error" | undefined;
  /**
   * How to treat a call that the server is known to deny, see {@link WhenLimited}. With `"wait"`, a call
   * that the server denies nevertheless keeps its place and waits again. Another limit or key, and
   * unmounting, cancel the held calls: each fails with an error for which `isWaitCancelled` is true, and
   * is not sent.
   * @default "reject"
   */
  whenLimited?: WhenLimited | undefined;
  /**
   * The result of a call that was denied, or kept from being sent. For `useActionState`, such as
   * `(_error, state) => state`, since an action that rejects replaces the page by its error boundary.
   *
   * @param error a denial for `isRateLimitError`, or an error for `isWaitCancelled`.
   * @default an answer that is a denial stays the result, and other such calls reject
   */
  denied?: ((error: unknown, ...args: TArgs) => TResult) | undefined;
}

/** The result of `useRateLimitedAction`. */
export interface RateLimitedAction<TArgs extends unknown[], TResult> {
  /** The action to pass on. The same function until the limit or the key changes. */
  readonly action: (...args: TArgs) => Promise<TResult>;
  /**
   * Whether a call would be sent at once, as far as is known; `false` while others are held. With a
   * `count` that depends on the arguments, `canRun` is about a call for one token.
   */
  readonly canRun: boolean;
  /** When `canRun` changes by itself, epoch ms on this machine's clock. */
  readonly retryAt: number | undefined;
  /** How many calls are held. */
  readonly held: number;
  /** The limit itself, as `useRateLimit` gives it. */
  readonly limit: UseRateLimitResult;
}

export function useLimitedAction<TArgs extends unknown[], TResult>(
  { observer, denialMessage, ...context }: RateLimitContextValue,
  name: string,
  call: (...args: TArgs) => TResult | Promise<TResult>,
  options: RateLimitedActionOptions<TArgs, TResult>,
): RateLimitedAction<TArgs, TResult> {
  const { key, count: given = 1 } = options;
  const followed = typeof given === "function" ? { key } : { key, count: given };
  const limit = useLimit({ observer, ...context }, name, followed);
  const item = useMemo(() => ({ name, key }), [name, key]);
  const { queue, subscribe, length } = useMemo(
    () => createShownQueue(observer, item),
    [observer, item],
  );
  useEffect(() => queue.open(), [queue]);
  const held = useSyncExternalStore(subscribe, length, () => 0);
  // A call takes the action and the options of the last render, and the action stays the same function.
  const latest = useRef({ call, options });
  useInsertionEffect(() => {
    latest.current = { call, options };
  });
  const action = useCallback(
    async (...args: TArgs): Promise<TResult> => {
      const { call: run, options: its } = latest.current;
      const { count = 1, on = "call", whenLimited = "reject", denied } = its;
      let answered: { answer: TResult } | undefined;
      const send = throwDenials(run, denialMessage, (answer) => (answered = { answer }));
      try {
        return await sendLimited(
          () => {
            answered = undefined;
            return send(...args);
          },
          {
            observer,
            item,
            queue,
            whenLimited,
            on,
            denialMessage,
            count: typeof count === "function" ? count(...args) : count,
          },
        );
      } catch (error) {
        if (denied && (isRateLimitError(error) || isWaitCancelled(error)))
          return denied(error, ...args);
        if (answered) return answered.answer;
        throw error;
      }
    },
    [observer, item, queue, denialMessage],
  );
  return {
    action,
    canRun: held === 0 && limit.status?.ok !== false,
    retryAt: limit.status?.retryAt,
    held,
    limit,
  };
}

/**
 * The queue of one hook, and its length for React. A state would not do: React calls an action inside of
 * a transition, and shows a state that was set there when the action has ended.
 */
function createShownQueue(observer: RateLimitObserver, item: RateLimitItem) {
  const listeners = new Set<() => void>();
  let held = 0;
  const queue = createHeldCalls(observer, item, (length) => {
    held = length;
    for (const listener of listeners) listener();
  });
  return {
    queue,
    length: () => held,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
