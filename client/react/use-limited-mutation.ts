/**
 * A mutation that knows its limit. The mutation debits the observer when it sends, and settles the debit
 * with the answer. While the limit is exhausted, the mutation rejects calls, or holds them and sends them
 * by itself.
 */
"use client";
import {
  type DefaultError,
  type MutationFunctionContext,
  useMutation,
  type UseMutationOptions,
  type UseMutationResult,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import type { WhenLimited } from "../types.js";
import { createHeldCalls, isWaitCancelled } from "./held-calls.js";
import { sendLimited } from "./send-limited.js";
import { type RateLimitContextValue, useLimit, type UseRateLimitResult } from "./use-limit.js";

/** The options of `useMutation`, such as tRPC's `mutationOptions()`, and those of the limit. */
export interface UseRateLimitedMutationOptions<
  TData = unknown,
  TError = DefaultError,
  TVariables = void,
  TOnMutateResult = unknown,
> extends UseMutationOptions<TData, TError, TVariables, TOnMutateResult> {
  /** A key to ask the server for; the server decides whether to answer. @default the visitor's own */
  key?: string | undefined;
  /** Tokens that a call takes, as the server charges them; 0 or more. @default 1 */
  count?: number | ((variables: TVariables) => number);
  /** Whether the server charges for every call, or only for calls that fail. @default "call" */
  on?: "call" | "error" | undefined;
  /**
   * How to treat a call that the server is known to deny, see {@link WhenLimited}. With `"wait"`,
   * a call that the server denies nevertheless keeps its place and waits again, until all limits
   * that denied it would let it pass. If this limit is not among them, the call fails. `reset()`, another
   * limit or key, and unmounting cancel the held calls: each fails with an error for which
   * `isWaitCancelled` is true, and is not sent.
   * @default "reject"
   */
  whenLimited?: WhenLimited | undefined;
}

/** The properties that the hook adds to a mutation's result. */
export interface RateLimitedMutationState {
  /**
   * Whether a call would be sent at once, as far as is known; `false` while others are held. With a
   * `count` that depends on the variables, `canMutate` is about a call for one token.
   */
  readonly canMutate: boolean;
  /** When `canMutate` changes by itself, epoch ms on this machine's clock. */
  readonly retryAt: number | undefined;
  /** How many calls are held. */
  readonly held: number;
  /** The limit itself, as `useRateLimit` gives it. */
  readonly limit: UseRateLimitResult;
}

/** The result of TanStack's `useMutation`, and what is known of the limit. */
export type UseRateLimitedMutationResult<TData, TError, TVariables, TOnMutateResult> =
  UseMutationResult<TData, TError, TVariables, TOnMutateResult> & RateLimitedMutationState;

export function useLimitedMutation<TData, TError, TVariables, TOnMutateResult>(
  context: RateLimitContextValue,
  name: string,
  options: UseRateLimitedMutationOptions<TData, TError, TVariables, TOnMutateResult>,
): UseRateLimitedMutationResult<TData, TError, TVariables, TOnMutateResult> {
  const { key, count = 1, on = "call", whenLimited = "reject", ...own } = options;
  const { observer, denialMessage } = context;
  const followed = typeof count === "function" ? { key } : (options as { count?: number });
  const limit = useLimit(context, name, followed);
  const item = useMemo(() => ({ name, key }), [name, key]);
  const [held, setHeld] = useState(0);
  const heldCalls = useMemo(() => createHeldCalls(observer, item, setHeld), [observer, item]);
  useEffect(() => heldCalls.open(), [heldCalls]);
  const { mutationFn, retry } = useQueryClient().defaultMutationOptions(own);

  const mutation = useMutation({
    ...own,
    ...(mutationFn && {
      mutationFn: (variables: TVariables, mutationContext: MutationFunctionContext) =>
        sendLimited(() => mutationFn(variables, mutationContext), {
          observer,
          item,
          queue: heldCalls,
          whenLimited,
          on,
          denialMessage,
          count: typeof count === "function" ? count(variables) : count,
        }),
    }),
    // A cancelled call must not be retried.
    retry: (failures: number, error: TError) =>
      !isWaitCancelled(error) &&
      (typeof retry === "function"
        ? retry(failures, error)
        : retry === true || failures < +(retry ?? 0)),
  });
  const { reset } = mutation;
  return {
    ...mutation,
    reset: useCallback(() => {
      heldCalls.cancel();
      reset();
    }, [heldCalls, reset]),
    canMutate: !held && limit.status?.ok !== false,
    retryAt: limit.status?.retryAt,
    held,
    limit,
  };
}
