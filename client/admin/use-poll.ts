/** Asks the server now, and again and again while the page is visible. A failure keeps the last answer. */
"use client";
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from "react";
import { type Trouble, troubleOf } from "./admin-client.js";
import { Poller } from "./poller.js";
import { TickerContext } from "./ticker.js";

export interface Poll<T> {
  /** The last answer; `undefined` before the first one. */
  data: T | undefined;
  /** Why the last question had no answer; `undefined` if it had one. */
  error: unknown;
  trouble: Trouble | undefined;
  /** Whether `data` is about what is asked now, rather than about what was asked before. */
  isCurrent: boolean;
  /** Asks at once, and drops an answer that is on its way: such an answer may be older than a change. */
  refresh(): void;
  /** Changes what is shown, until the next answer. */
  patch(change: (data: T) => T): void;
}

/** ms until a question without an answer is asked again, at most. */
const RETRY = 5000;

interface State<T> {
  question: string;
  data: T | undefined;
  error: unknown;
}

/**
 * @param question a text of everything that `ask` depends on. Another question is asked at once.
 * @param every ms between an answer and the next question; `undefined`: asks once.
 */
export function usePoll<T extends object>(
  question: string,
  ask: (signal: AbortSignal) => Promise<T>,
  every: number | undefined,
): Poll<T> {
  const ticker = useContext(TickerContext);
  const [state, setState] = useState<State<T>>({ question, data: undefined, error: undefined });
  const [round, setRound] = useState(0);
  const latest = useRef(ask);
  useEffect(() => {
    latest.current = ask;
  });

  useEffect(() => {
    const keep = (before: State<T>) => (before.question === question ? before.data : undefined);
    const poller = new Poller(async (signal) => {
      try {
        const data = await latest.current(signal);
        if (signal.aborted) return undefined;
        // Most answers say what time it is on the server.
        const { now } = data as { now?: number };
        if (now !== undefined) ticker?.hear(now);
        setState({ question, data, error: undefined });
        return every;
      } catch (error) {
        if (signal.aborted) return undefined;
        setState((before) => ({ ...before, question, data: keep(before), error }));
        return every && Math.min(every, RETRY);
      }
    });
    if (every === undefined) poller.ask();
    else poller.start();
    return () => poller.stop();
  }, [question, every, round, ticker]);

  const refresh = useCallback(() => setRound((before) => before + 1), []);
  const patch = useCallback(
    (change: (data: T) => T) =>
      setState((before) =>
        before.data === undefined ? before : { ...before, data: change(before.data) },
      ),
    [],
  );
  const isCurrent = state.question === question;
  return useMemo(() => {
    const { error } = isCurrent ? state : { error: undefined };
    return {
      data: isCurrent ? state.data : undefined,
      error,
      trouble: error === undefined ? undefined : troubleOf(error),
      isCurrent,
      refresh,
      patch,
    };
  }, [state, isCurrent, refresh, patch]);
}
