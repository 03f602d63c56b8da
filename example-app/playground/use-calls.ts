/** Calls the playground's procedure: once, repeatedly while a button is held, or ten at a time. */
import { TRPCClientError } from "@trpc/client";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { isRateLimitError } from "trpc-rate-limit/react";
import { useTRPCClient } from "../shared/page/trpc.js";
import type { AppRouter } from "../shared/server/router.js";
import type { BucketHistory } from "./bucket-history.js";
import type { CallGate } from "./call-gate.js";
import type { Setting } from "./use-setting.js";

/** ms between two calls while the button is held. */
const HOLD_INTERVAL = 200;
const VISITORS = 10;
/** The visitors leave after this many ms. */
const VISIT = 60_000;
/** The pauses of a visitor, ms. */
const PAUSE = { min: 200, max: 1_800 };
/** The most calls without an answer. No further call is sent meanwhile. */
const MOST_WAITING = 30;

export function useCalls(
  history: BucketHistory,
  gate: CallGate,
  { call: next, starts, isToRun, hasRun }: Pick<Setting, "call" | "starts" | "isToRun" | "hasRun">,
) {
  const client = useTRPCClient();
  const [problem, setProblem] = useState<string>();
  const [visitors, setVisitors] = useState<{ controller: AbortController; endsAt: number }>();
  const holding = useRef<ReturnType<typeof setInterval>>(undefined);
  const latest = useRef(next);
  useEffect(() => {
    latest.current = next;
  });
  useEffect(() => () => clearInterval(holding.current), []);
  useEffect(() => () => visitors?.controller.abort(), [visitors]);
  const stop = useEffectEvent(() => {
    clearInterval(holding.current);
    visitors?.controller.abort();
  });
  // Another limit starts with a full bucket. Stop the callers of the limit before, or they take its
  // tokens.
  useEffect(() => stop(), [starts]);

  async function call(signal?: AbortSignal): Promise<void> {
    await gate.whenOpen();
    // Waiting calls all pass the gate at once, so count the calls only now.
    if (signal?.aborted || history.counts.waiting >= MOST_WAITING) return;
    const input = latest.current;
    const number = history.sent();
    try {
      history.granted(number, await client.playground.take.mutate(input), input.count);
      setProblem(undefined);
    } catch (error) {
      // Limit: a denial says what the bucket holds.
      if (isRateLimitError(error)) history.denied(number, error.data.rateLimit);
      else if (isAnswer(error)) history.failed(number);
      else history.lost(number);
      setProblem(isRateLimitError(error) ? undefined : textOf(error));
    }
  }

  async function visit(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(PAUSE.min + Math.random() * (PAUSE.max - PAUSE.min));
      if (!signal.aborted) await call(signal);
    }
  }

  function letLoose(): void {
    const controller = new AbortController();
    setVisitors({ controller, endsAt: Date.now() + VISIT });
    setTimeout(() => controller.abort(), VISIT);
    controller.signal.addEventListener("abort", () =>
      // Visitors who have come since stay.
      setVisitors((current) => (current?.controller === controller ? undefined : current)),
    );
    for (let i = 0; i < VISITORS; i++) void visit(controller.signal);
  }
  const run = useEffectEvent(() => {
    letLoose();
    hasRun();
  });
  useEffect(() => {
    if (!isToRun) return undefined;
    const timer = setTimeout(run);
    return () => clearTimeout(timer);
  }, [isToRun]);

  return {
    call: () => call(),
    problem,
    hold() {
      clearInterval(holding.current);
      holding.current = setInterval(() => void call(), HOLD_INTERVAL);
      void call();
    },
    release: () => clearInterval(holding.current),
    /** When the visitors leave, epoch ms; `undefined` while there are none. */
    visitorsLeaveAt: visitors?.endsAt,
    letLoose,
    stop: () => visitors?.controller.abort(),
  };
}

/** Whether the server has answered. */
function isAnswer(error: unknown): error is TRPCClientError<AppRouter> {
  return error instanceof TRPCClientError && Boolean(error.data);
}

function textOf(error: unknown): string {
  if (!isAnswer(error)) return "The server did not answer. It may have taken the tokens or not.";
  return error.data?.code === "PAYLOAD_TOO_LARGE"
    ? "The bucket never holds so many tokens."
    : "The server could not decide this call.";
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
