/**
 * A caller whose bucket nobody else uses, on a clock that stands still. What the bucket holds is known
 * exactly, but for calls whose answer was lost: they may have taken effect or not. Every answer has
 * to agree with something that is possible.
 */
import type { RateLimitResult } from "../../../server/index.js";
import { isStoreFailure, MAX_RESERVED, type Workload } from "./context.js";
import { type Change, type Effect, Possible } from "./possible.js";

const CAPACITY = 20;
const ROLLED_BACK = new Error("the application rolls back");

export const alone: Workload = async (caller) => {
  const { member, random, timeline } = caller;
  const newKey = () => `own ${member.id} ${random.below(2 ** 31)}`;
  let key = newKey();
  let possible = new Possible(CAPACITY, () => timeline.now);
  let quiet: { end(): void } | undefined;
  /** The last answer, for reports. */
  let saw = "";

  /** @param lost what the call may do although it has no answer */
  async function step(
    what: string,
    most: number,
    run: () => Promise<Effect>,
    lost: readonly Change[],
  ): Promise<boolean> {
    caller.tally.note(what);
    quiet?.end();
    quiet = undefined;
    const was = possible.values;
    try {
      const effect = await caller.timed(what, most, run);
      if (!possible.answered(effect)) {
        if (!caller.hasLost()) {
          caller.report(`${what} on a bucket that held ${was.join(" or ")}: ${saw}`);
        }
        begin();
      }
      return true;
    } catch (error) {
      if (error === ROLLED_BACK) return true;
      if (!isStoreFailure(error)) throw error;
      caller.failed(error, what);
      possible.lost(lost);
      quiet = caller.quiet(key);
      return false;
    }
  }

  /** Another bucket, of which everything is known. */
  function begin(): void {
    quiet = undefined;
    key = newKey();
    possible = new Possible(CAPACITY, () => timeline.now);
  }

  const take = (count: number, floor: number, { ok, value }: RateLimitResult): Effect => {
    saw = `${count} tokens, ${ok ? "granted" : "denied"}, ${value} left`;
    return (held) => {
      const left = held - count;
      if (ok !== left >= floor) return undefined;
      const after = ok ? left : held;
      return after === value ? after : undefined;
    };
  };

  while (caller.isOn()) {
    if (possible.uncertain > 3) begin();
    const count = random.between(1, 6);
    const lost: Change[] = [(value) => value - count];
    const { frozen } = member;
    const dice = random.next();
    if (dice < 0.25) {
      await step(
        "limit",
        2000,
        async () => take(count, 0, await frozen.limit("own", { key, count })),
        lost,
      );
    } else if (dice < 0.35) {
      const reserve = async () =>
        take(count, -MAX_RESERVED, await frozen.limit("own", { key, count, reserve: true }));
      await step("reserve", 2000, reserve, lost);
    } else if (dice < 0.42) {
      const charge = async (): Promise<Effect> => {
        const { value } = await frozen.charge("own", { key, count });
        return (held) => (held - count === value ? value : undefined);
      };
      await step("charge", 2000, charge, lost);
    } else if (dice < 0.5) {
      const refund = async (): Promise<Effect> => {
        const { value } = await frozen.refund("own", { key, count });
        return (held) => (Math.min(CAPACITY, held + count) === value ? value : undefined);
      };
      await step("refund", 2000, refund, [(value) => Math.min(CAPACITY, value + count)]);
    } else if (dice < 0.6) {
      const look = async (): Promise<Effect> => {
        const { value } = await frozen.getValue("own", { key });
        return (held) => (held === value ? held : undefined);
      };
      await step("getValue", 2000, look, []);
    } else if (dice < 0.72) {
      await settle(count);
    } else if (dice < 0.8) {
      await abort(count);
    } else if (dice < 0.9) {
      await transact(count, random.chance(0.4));
    } else if (dice < 0.95) {
      await join(count, random.chance(0.4));
    } else {
      const reset = async (): Promise<Effect> => {
        await frozen.reset("own", { key });
        return () => CAPACITY;
      };
      await step("reset", 2000, reset, [() => CAPACITY]);
    }
    if (random.chance(0.3)) await member.sleep(random.below(50));
  }

  /** An estimate, and twice the same correction of it. */
  async function settle(count: number): Promise<void> {
    const { frozen } = member;
    let result: RateLimitResult | undefined;
    const estimate = async () => {
      result = await frozen.limit("own", { key, count });
      return take(count, 0, result);
    };
    await step("limit", 2000, estimate, [(value) => value - count]);
    if (!result?.ok) return;
    const actual = random.between(0, 8);
    const correct: Change = (value) => Math.min(CAPACITY, value + count - actual);
    const given = result;
    const run = async (): Promise<Effect> => {
      await frozen.settle(given, actual);
      return correct;
    };
    if (!(await step("settle", 2000, run, [correct]))) return;
    const again = async (): Promise<Effect> => {
      await frozen.settle(given, actual);
      return (value) => value;
    };
    await step("settle again", 2000, again, []);
  }

  /** A call that waits for its tokens, and is aborted meanwhile. */
  async function abort(count: number): Promise<void> {
    const { frozen } = member;
    const controller = new AbortController();
    const reason = new Error("aborted");
    let isAborted = false;
    void member.sleep(random.between(1, 40)).then(() => {
      isAborted = true;
      controller.abort(reason);
    });
    const run = async (): Promise<Effect> => {
      const options = { key, count, signal: controller.signal };
      try {
        const { value, retryAfter } = await frozen.acquire("own", options);
        if (retryAfter !== undefined) caller.report("acquire did not wait");
        return take(count, 0, { ok: true, value, ts: 0 } as RateLimitResult);
      } catch (error) {
        if ((error as { kind?: unknown }).kind === "RateLimited") {
          return (held) => (held - count < -MAX_RESERVED ? held : undefined);
        }
        if (error === reason) {
          if (!isAborted) caller.report("acquire was aborted early");
          // Where the store can fail, it may have done so when the tokens were to come back.
          if (caller.isCalm) return (held) => held;
          possible.lost([(value) => value - count, (value) => Math.min(CAPACITY, value + count)]);
          return (held) => held;
        }
        throw error;
      }
    };
    // Two statements one after the other: the taking, and the giving back.
    await step("acquire", 4100, run, [
      (value) => value - count,
      (value) => Math.min(CAPACITY, value + count),
    ]);
  }

  async function transact(count: number, rollsBack: boolean): Promise<void> {
    const hides = random.chance(0.3);
    const run = async (): Promise<Effect> => {
      const result = await member.frozen.transaction(async ({ limit }) => {
        // Some applications hide errors. A conflict is retried all the same.
        const taken = await (hides
          ? limit("own", { key, count }).catch(() => undefined)
          : limit("own", { key, count }));
        if (rollsBack) throw ROLLED_BACK;
        return taken;
      });
      if (result !== undefined) return take(count, 0, result);
      if (caller.isCalm) caller.report("a transaction was committed without its limit");
      return (held) => held;
    };
    const lost: Change[] = rollsBack ? [] : [(value) => value - count];
    await step(rollsBack ? "transaction, rolled back" : "transaction", 25_000, run, lost);
  }

  /** A transaction that the application owns. */
  async function join(count: number, rollsBack: boolean): Promise<void> {
    const run = async (): Promise<Effect> => {
      const client = await member.borrow();
      let broken: Error | undefined;
      try {
        await client.begin();
        const result = await member.frozen.using(client.tx).limit("own", { key, count });
        await (rollsBack ? client.rollback() : client.commit());
        return rollsBack ? (held) => held : take(count, 0, result);
      } catch (error) {
        broken = error as Error;
        if (isStoreFailure(error)) throw error;
        throw Object.assign(new Error("the application's connection", { cause: error }), {
          kind: "StoreFailure",
        });
      } finally {
        client.release(broken);
      }
    };
    await step("using", 100_000, run, rollsBack ? [] : [(value) => value - count]);
  }
};
