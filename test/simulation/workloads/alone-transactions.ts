/** Calls inside of transactions of the package, and of the application. */
import type { AloneBucket } from "./alone-bucket.js";
import { isStoreFailure } from "./context.js";
import { ROLLED_BACK } from "./own-bucket.js";
import type { Effect } from "./possible.js";

export async function transact(
  bucket: AloneBucket,
  count: number,
  rollsBack: boolean,
): Promise<void> {
  const { key, caller } = bucket;
  const hides = caller.random.chance(0.3);
  async function run(): Promise<Effect> {
    const result = await caller.member.frozen.transaction(async ({ limit }) => {
      // Some applications hide errors. The package still retries a conflict.
      const taken = await (hides
        ? limit("own", { key, count }).catch(() => undefined)
        : limit("own", { key, count }));
      if (rollsBack) throw ROLLED_BACK;
      return taken;
    });
    if (result !== undefined) return bucket.take(count, 0, result);
    if (caller.isCalm) caller.report("a transaction was committed without its limit");
    return (held) => held;
  }
  await bucket.step({
    what: rollsBack ? "transaction, rolled back" : "transaction",
    most: 25_000,
    run,
    lost: rollsBack ? [] : [(held) => held - count],
  });
}

/** A call in a transaction that the application owns. */
export async function join(bucket: AloneBucket, count: number, rollsBack: boolean): Promise<void> {
  const { key, caller } = bucket;
  const { member } = caller;
  async function run(): Promise<Effect> {
    const client = await member.borrow();
    let broken: Error | undefined;
    try {
      await client.begin();
      const result = await member.frozen.using(client.tx).limit("own", { key, count });
      await (rollsBack ? client.rollback() : client.commit());
      return rollsBack ? (held) => held : bucket.take(count, 0, result);
    } catch (error) {
      broken = error as Error;
      if (isStoreFailure(error)) throw error;
      throw Object.assign(new Error("the application's connection", { cause: error }), {
        kind: "StoreFailure",
      });
    } finally {
      client.release(broken);
    }
  }
  await bucket.step({
    what: "using",
    most: 100_000,
    run,
    lost: rollsBack ? [] : [(held) => held - count],
  });
}
