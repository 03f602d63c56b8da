/** Calls that are corrected afterwards: estimates that are settled, and waits that are aborted. */
import type { RateLimitResult } from "../../../server/index.js";
import { type AloneBucket, CAPACITY, giving } from "./alone-bucket.js";
import { MAX_RESERVED } from "./context.js";
import type { Change, Effect } from "./possible.js";

/** Takes an estimate, and settles it twice with the same correction. */
export async function settle(bucket: AloneBucket, count: number): Promise<void> {
  const { key, caller } = bucket;
  const { frozen } = caller.member;
  let result: RateLimitResult | undefined;
  await bucket.step({
    what: "limit",
    most: 2000,
    async run() {
      result = await frozen.limit("own", { key, count });
      return bucket.take(count, 0, result);
    },
    lost: [(held) => held - count],
  });
  if (!result?.ok) return;
  const given = result;
  const actual = caller.random.between(0, 8);
  const correct: Change = (held) => Math.min(CAPACITY, held + count - actual);
  const correction = async () => frozen.settle(given, actual);
  const isSettled = await bucket.step({
    what: "settle",
    most: 2000,
    run: async () => (await correction(), correct),
    lost: [correct],
  });
  if (!isSettled) return;
  await bucket.step({
    what: "settle again",
    most: 2000,
    run: async () => (await correction(), (held) => held),
    lost: [],
  });
}

/**
 * How long callers wait after the last caller was served, ms, while no call may fail. By then, the next
 * caller would be answered, also by a busy process. So a caller who leaves has had no token to wait for.
 */
const PATIENCE = 2000;

/** Calls that each wait in line for a token, and are aborted one after the other. */
export async function abortLine(bucket: AloneBucket): Promise<void> {
  const { key, caller } = bucket;
  const { member, random, timeline } = caller;
  const callers = random.between(2, 12);
  const reason = new Error("aborted");
  async function run(): Promise<Effect> {
    let served = 0;
    let lastAt = timeline.now;
    const leave = async (controller: AbortController, patience: number) => {
      while (timeline.now < lastAt + patience) await member.sleep(lastAt + patience - timeline.now);
      controller.abort(reason);
    };
    const calls = Array.from({ length: callers }, async (_, i) => {
      const controller = new AbortController();
      void leave(controller, (caller.isCalm ? PATIENCE : 60) + i * random.below(3));
      try {
        await member.frozen.acquire("own", { key, signal: controller.signal });
        served++;
        if (caller.isCalm) lastAt = timeline.now;
      } catch (error) {
        const isDenied = (error as { kind?: unknown }).kind === "RateLimited";
        if (error !== reason && !isDenied) throw error;
      }
    });
    const ended = await Promise.allSettled(calls);
    const failed = ended.find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    bucket.saw = `${served} of ${callers} served`;
    return (held) => {
      if (!caller.isCalm) return held;
      return served === Math.min(callers, Math.max(0, Math.floor(held)))
        ? held - served
        : undefined;
    };
  }
  await bucket.step({ what: "acquire in line", most: 4100 + PATIENCE, run, lost: [] });
  // An answer later than its signal may have taken a token. Then the store may have failed to give it
  // back.
  if (!caller.isCalm) bucket.begin();
}

/** A call that waits for its tokens, and is aborted during the wait. */
export async function abort(bucket: AloneBucket, count: number): Promise<void> {
  const { key, caller } = bucket;
  const { member, random } = caller;
  const controller = new AbortController();
  const reason = new Error("aborted");
  let isAborted = false;
  void member.sleep(random.between(1, 40)).then(() => {
    isAborted = true;
    controller.abort(reason);
  });
  // Two statements one after the other: one takes the tokens, and one gives them back.
  const both: Change[] = [(held) => held - count, giving(count)];
  async function run(): Promise<Effect> {
    try {
      const options = { key, count, signal: controller.signal };
      const { value, retryAfter } = await member.frozen.acquire("own", options);
      if (retryAfter !== undefined) caller.report("acquire did not wait");
      return bucket.take(count, 0, { ok: true, value, ts: 0 });
    } catch (error) {
      if ((error as { kind?: unknown }).kind === "RateLimited") {
        return (held) => (held - count < -MAX_RESERVED ? held : undefined);
      }
      if (error !== reason) throw error;
      if (!isAborted) caller.report("acquire was aborted early");
      // If the store can fail, it may have failed to give the tokens back.
      if (!caller.isCalm) bucket.possible.lost(both);
      return (held) => held;
    }
  }
  await bucket.step({ what: "acquire", most: 4100, run, lost: both });
}
