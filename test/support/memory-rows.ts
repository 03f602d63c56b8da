/** Fills a memory store with more keys than it holds by default, in a process of its own. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { DAY, memoryStore } from "../../server/index.js";
import { rowId } from "../../server/store/store.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const heap = () => {
  collect();
  return process.memoryUsage().heapUsed;
};

/** The number of decisions at a time, so that the calls themselves take little of the heap. */
const BATCH = 2000;
const config = { kind: "token bucket", rate: 10, period: DAY } as const;
const store = memoryStore();
const before = heap();
for (let i = 0; i < 254_000; i += BATCH) {
  await store.apply(
    Array.from({ length: BATCH }, (_, j) => ({
      rows: [rowId("send", `0e8f3c1a-5b7d-4c21-9f00-${`${i + j}`.padStart(12, "0")}`, 0, config)],
      decide: () => ({ result: true, writes: [{ used: 1, ts: i + j }] }),
    })),
  );
}
let rows = 0;
for (let after; ;) {
  const page = await store.list!("send", after, 10_000);
  rows += page.length;
  after = page.at(-1);
  if (page.length < 10_000) break;
}
console.log(JSON.stringify({ rows, bytesPerRow: Math.round((heap() - before) / rows) }));
