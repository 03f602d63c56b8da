/**
 * A mutation that knows its limit: debits the mirror as it sends, settles with the server when it
 * fails, and while the limit is exhausted refuses, or waits and sends by itself.
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
import { sendLimited, type WhenLimited } from "./send-limited.js";
import { type Mirror, useLimit, type UseRateLimitResult } from "./use-limit.js";
import { createWaitingLine, WaitCancelled } from "./waiting-line.js";

/** What `useMutation` takes, such as tRPC's `mutationOptions()`, and how it is limited. */
export interface UseRateLimitedMutationOptions<
  TData = unknown,
  TError = DefaultError,
  TVariables = void,
  TOnMutateResult = unknown,
> extends UseMutationOptions<TData, TError, TVariables, TOnMutateResult> {
  /** A key to ask the server for; it decides whether to answer. @default the visitor's own */
  key?: string | undefined;
  /** Tokens that a call takes, as the server charges them; 0 or more. @default 1 */
  count?: number | ((variables: TVariables) => number) | undefined;
  /** What the server charges for: every call, or those that fail. @default "call" */
  on?: "call" | "error" | undefined;
  /**
   * What becomes of a call that the server is known to refuse.
   *
   * - `"reject"`: it fails at once, without a request, with an error for `isRateLimitError`;
   * - `"wait"`: it is held, pending, and sent when its time comes, in order. If the server refuses
   *   it nevertheless, it keeps its place and waits anew. `reset()`, another limit or key, and
   *   leaving the page cancel what is held: it fails with an `AbortError`, and is not sent.
   * - `"send"`: it is sent.
   *
   * @default "reject"
   */
  whenLimited?: WhenLimited | undefined;
}

/** What the hook adds to a mutation's result. */
export interface RateLimitedMutationState {
  /**
   * Whether a call would be sent at once, as far as is known: not while others are held. With a
   * `count` that depends on the variables, whether a call for one token would.
   */
  readonly canMutate: boolean;
  /** When that changes by itself, epoch ms on this machine's clock. */
  readonly retryAt: number | undefined;
  /** How many calls wait for their time. */
  readonly held: number;
  /** The limit itself, as `useRateLimit` gives it. */
  readonly limit: UseRateLimitResult;
}

export type UseRateLimitedMutationResult<TData, TError, TVariables, TOnMutateResult> =
  UseMutationResult<TData, TError, TVariables, TOnMutateResult> & RateLimitedMutationState;

export function useLimitedMutation<TData, TError, TVariables, TOnMutateResult>(
  mirror: Mirror,
  name: string,
  options: UseRateLimitedMutationOptions<TData, TError, TVariables, TOnMutateResult>,
): UseRateLimitedMutationResult<TData, TError, TVariables, TOnMutateResult> {
  const { key, count = 1, on = "call", whenLimited = "reject", ...own } = options;
  const { observer } = mirror;
  const limit = useLimit(mirror, name, { key, count: typeof count === "function" ? 1 : count });
  const item = useMemo(() => ({ name, key }), [name, key]);
  const [held, setHeld] = useState(0);
  const line = useMemo(() => createWaitingLine(observer, item, setHeld), [observer, item]);
  useEffect(() => line.open(), [line]);
  const { mutationFn, retry } = useQueryClient().defaultMutationOptions(own);

  const mutation = useMutation({
    ...own,
    ...(mutationFn && {
      mutationFn: (variables: TVariables, context: MutationFunctionContext) =>
        sendLimited(() => mutationFn(variables, context), {
          observer,
          item,
          line,
          whenLimited,
          chargesErrors: on === "error",
          count: typeof count === "function" ? count(variables) : count,
        }),
    }),
    // What was cancelled stays cancelled.
    retry: (failures: number, error: TError) =>
      !(error instanceof WaitCancelled) &&
      (typeof retry === "function"
        ? retry(failures, error)
        : retry === true || failures < +(retry ?? 0)),
  });
  const { reset } = mutation;
  return {
    ...mutation,
    reset: useCallback(() => {
      line.cancel();
      reset();
    }, [line, reset]),
    canMutate: held === 0 && limit.status?.ok !== false,
    retryAt: limit.status?.retryAt,
    held,
    limit,
  };
}
