/**
 * A caller whose bucket no other caller uses, on a clock that stands still. The bucket's tokens are known
 * exactly, except for calls whose answer was lost.
 */
import { type Caller, MAX_RESERVED, type Workload } from "./context.js";
import { abort, abortLine, settle } from "./alone-corrections.js";
import { join, transact } from "./alone-transactions.js";
import { AloneBucket, CAPACITY } from "./alone-bucket.js";

export const alone: Workload = async (caller: Caller) => {
  const { member, random } = caller;
  const { frozen } = member;
  const bucket = new AloneBucket(caller, CAPACITY);
  while (caller.isOn()) {
    bucket.renew();
    const count = random.between(1, 6);
    const dice = random.next();
    if (dice < 0.25) await limit(bucket, count, false);
    else if (dice < 0.35) await limit(bucket, count, true);
    else if (dice < 0.42) await charge(bucket, count);
    else if (dice < 0.5) await refund(bucket, count);
    else if (dice < 0.6) await look(bucket);
    else if (dice < 0.72) await settle(bucket, count);
    else if (dice < 0.77) await abort(bucket, count);
    else if (dice < 0.8) await abortLine(bucket);
    else if (dice < 0.9) await transact(bucket, count, random.chance(0.4));
    else if (dice < 0.95) await join(bucket, count, random.chance(0.4));
    else await reset(bucket);
    if (random.chance(0.3)) await member.sleep(random.below(50));
  }

  async function limit({ key }: AloneBucket, count: number, reserve: boolean): Promise<void> {
    await bucket.step({
      what: reserve ? "reserve" : "limit",
      most: 2000,
      async run() {
        const result = await frozen.limit("own", { key, count, reserve });
        return bucket.take(count, reserve ? -MAX_RESERVED : 0, result);
      },
      lost: [(held) => held - count],
    });
  }

  async function charge({ key }: AloneBucket, count: number): Promise<void> {
    await bucket.step({
      what: "charge",
      most: 2000,
      async run() {
        const { value } = await frozen.charge("own", { key, count });
        return (held) => (held - count === value ? value : undefined);
      },
      lost: [(held) => held - count],
    });
  }

  async function refund({ key }: AloneBucket, count: number): Promise<void> {
    await bucket.step({
      what: "refund",
      most: 2000,
      async run() {
        const { value } = await frozen.refund("own", { key, count });
        return (held) => (Math.min(CAPACITY, held + count) === value ? value : undefined);
      },
      lost: [(held) => Math.min(CAPACITY, held + count)],
    });
  }

  async function look({ key }: AloneBucket): Promise<void> {
    await bucket.step({
      what: "getValue",
      most: 2000,
      async run() {
        const { value } = await frozen.getValue("own", { key });
        return (held) => (held === value ? held : undefined);
      },
      lost: [],
    });
  }

  async function reset({ key }: AloneBucket): Promise<void> {
    await bucket.step({
      what: "reset",
      most: 2000,
      async run() {
        await frozen.reset("own", { key });
        return () => CAPACITY;
      },
      lost: [() => CAPACITY],
    });
  }
};
