/**
 * A process that uses up a limit with `warnAt`, and prints each warning that it is told. Arguments: the
 * kind of the store, and the url of its database. On standard input: a key for each round.
 */
import { createInterface } from "node:readline";
import { createRateLimiter, DAY } from "../../server/index.js";
import { openStore, type StoreKind } from "./open-store.js";

export const limits = {
  quota: {
    kind: "fixed window",
    rate: 120,
    period: 365 * DAY,
    start: 0,
    warnAt: [0.25, 0.5, 0.75, 1],
  },
} as const;

async function main([kind = "", url = ""]: readonly string[]): Promise<void> {
  const { store } = openStore(kind as StoreKind, url);
  const limiter = createRateLimiter({ store, limits, timeout: 20_000 });
  await limiter.check("quota");
  limiter.onWarning(async (warning) => {
    console.log(JSON.stringify(warning));
    // Some processes are killed before they can say that the warning was told.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
  });
  console.log("ready");
  const call = async (key: string) => {
    while ((await limiter.limit("quota", { key })).ok);
  };
  for await (const key of createInterface(process.stdin)) {
    await Promise.all([call(key), call(key)]);
    console.log("done");
  }
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
