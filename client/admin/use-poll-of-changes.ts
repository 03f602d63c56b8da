/** Asks about what operators have changed, and at once when this page has changed something. */
"use client";
import { useEffect } from "react";
import { useAdmin } from "./admin-context.js";
import { type Poll, usePoll } from "./use-poll.js";

/** @param question see `usePoll`. */
export function usePollOfChanges<T extends object>(
  question: string,
  ask: (signal: AbortSignal) => Promise<T>,
): Poll<T> {
  const { interval, changes } = useAdmin();
  const poll = usePoll(question, ask, interval);
  const { refresh } = poll;
  useEffect(() => changes.listen(refresh), [changes, refresh]);
  return poll;
}
