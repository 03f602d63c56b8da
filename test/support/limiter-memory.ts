/**
 * Uses limits of every kind with many keys, one kind after the other, in a process of its own. Prints, as
 * JSON, the most bytes that the limiter held in the heap meanwhile, by kind. These bytes are those of the
 * limiter's caches, since the store forgets its rows.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  createRateLimiter,
  HOUR,
  type LimitConfigs,
  memoryStore,
  MINUTE,
} from "../../server/index.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
/** So many calls at once take little of the heap themselves. */
const TOGETHER = 200;

const slots = { kind: "concurrency", slots: 1 } as const;
const bucket = { kind: "token bucket", rate: 10, period: MINUTE, capacity: 10 } as const;
const limits = {
  bucket,
  shards: { ...bucket, rate: 10_000, capacity: 10_000, shards: 1000 },
  month: { kind: "fixed window", rate: 1, period: "month" },
  day: { kind: "fixed window", rate: 5, period: "day", timeZone: "Europe/Berlin" },
  denied: { ...bucket, capacity: 1, rememberDenials: HOUR },
  blocked: { ...bucket, capacity: 1, blockFor: [MINUTE, HOUR] },
  leased: { ...bucket, rate: 1e6, capacity: 1e6, lease: { ms: 1000 } },
  credits: { kind: "credits", capacity: 10 },
  slots,
  manySlots: { ...slots, slots: 1000 },
  line: slots,
} as const satisfies LimitConfigs;

/** A limiter with everything that it can remember. Its store forgets, and its waits take no time. */
const limiter = createRateLimiter({
  store: memoryStore({ maxRows: 2000 }),
  limits,
  logger: false,
  sleep: () => Promise.resolve(),
  hashKey: (key) => `#${key.slice(1)}`,
  overrides: true,
});

type TokensName = Exclude<keyof typeof limits, "slots" | "manySlots" | "line">;

const take =
  (name: TokensName, times = 1) =>
  async (key: string) => {
    for (let i = 0; i < times; i++) await limiter.limit(name, { key });
  };
const enter = (name: "slots" | "manySlots") => async (key: string) => {
  await using _ = await limiter.enter(name, { key });
};

/** By kind: what is done with each key, and the number of keys. */
const uses: Record<string, [use: (key: string, index: number) => Promise<unknown>, keys: number]> =
  {
    line: [
      async (key) => {
        await using _ = await limiter.enter("line", { key });
        // This call stands in the line for one look, and then gives up.
        await limiter.enter("line", { key, maxWait: 1 });
      },
      4000,
    ],
    slots: [enter("slots"), 8000],
    "many slots": [enter("manySlots"), 200],
    bucket: [take("bucket"), 11_000],
    shards: [take("shards", 3), 4000],
    "own config": [
      (key, i) => limiter.limit("month", { key, config: { ...limits.month, start: i * HOUR } }),
      6000,
    ],
    day: [take("day"), 2000],
    denied: [take("denied", 2), 21_000],
    blocked: [take("blocked", 2), 2000],
    leased: [take("leased", 3), 11_000],
    once: [(key, i) => limiter.limit("bucket", { key: key.slice(-100), once: `${i}` }), 2000],
    credits: [(key) => limiter.credit("credits", { key, count: 1 }), 2000],
  };

function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** As long as a key can be, with a character of more than one byte. */
const keyOf = (kind: string, index: number) => `${kind} ${index}`.padStart(190, "k") + "Ω";

async function useEach(kind: string, from: number, to: number): Promise<void> {
  const [use] = uses[kind]!;
  for (let i = from; i < to; i += TOGETHER) {
    const indexes = Array.from({ length: Math.min(TOGETHER, to - i) }, (_, j) => i + j);
    await Promise.all(indexes.map((index) => use(keyOf(kind, index), index)));
  }
}

await limiter.overrides.set("bucket", { times: 2 });
// The first calls of all compile code, which is not a cache.
for (const kind of Object.keys(uses)) await useEach(kind, 0, 1);
const before = heap();
const most: Record<string, number> = {};
for (const [kind, [, keys]] of Object.entries(uses)) {
  most[kind] = 0;
  for (let from = 0; from < keys; from += keys / 5) {
    await useEach(kind, from, from + keys / 5);
    most[kind] = Math.max(most[kind], heap() - before);
  }
}
console.log(JSON.stringify(most));
// The slots that are still held are renewed by timers.
process.exit(0);
