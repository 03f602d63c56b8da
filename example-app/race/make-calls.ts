/**
 * The calls that one side makes in a race, and their outcomes. This file needs neither a process nor a
 * database.
 */
import { CALLS } from "../shared/race-size.js";

/** Failed: the call got an error, for example that the database was busy. */
export type Outcome = "granted" | "denied" | "failed";
/** Same: all calls in one tick, as in one batch of tRPC. Each: one call after the other, as requests. */
export type Tick = "same" | "each";

export interface Calls {
  /** When the first call started, epoch ms. */
  startedAt: number;
  /** In the order in which they started. `at` is when the answer was there, epoch ms with a fraction. */
  answers: { outcome: Outcome; at: number }[];
}

/** Epoch ms, with a fraction. */
const now = () => performance.timeOrigin + performance.now();

/**
 * Makes the calls of one caller. None of them waits for the answer to another one.
 *
 * @param allow whether a call is granted.
 * @param nextTick ends when the next call may start. @default all start in one tick
 */
export async function makeCalls(
  allow: () => Promise<boolean>,
  nextTick?: () => Promise<unknown>,
): Promise<Calls> {
  const startedAt = now();
  const answers: Promise<Calls["answers"][number]>[] = [];
  for (let i = 0; i < CALLS; i++) {
    const outcome = allow().then(
      (ok): Outcome => (ok ? "granted" : "denied"),
      (): Outcome => "failed",
    );
    answers.push(outcome.then((known) => ({ outcome: known, at: now() })));
    if (nextTick) await nextTick();
  }
  return { startedAt, answers: await Promise.all(answers) };
}
