import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { LimitCache } from "../../../../server/limiter/limits/limit-cache.js";

it("bounds the heap of all caches of a limiter, with the longest keys and every kind of limit", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--import", "tsx", "test/support/limiter-memory.ts"],
    { cwd: fileURLToPath(new URL("../../../..", import.meta.url)) },
  );
  const most = JSON.parse(stdout) as Record<string, number>;
  expect(Object.keys(most)).toHaveLength(12);
  // 73 MB, of which 37 are 20,000 remembered denials.
  expect(Object.entries(most).filter(([, bytes]) => bytes > 85e6)).toEqual([]);
}, 180_000);

it("forgets all when one more does not fit", () => {
  const cache = new LimitCache<number>();
  cache.set("a", "x", 1, 8e6);
  cache.set("b", undefined, 2, 8e6);
  expect([cache.get("a", "x"), cache.get("b", undefined)]).toEqual([1, 2]);
  cache.set("a", "y", 3, 1);
  expect([cache.get("a", "x"), cache.get("b", undefined)]).toEqual([undefined, undefined]);
  expect(cache.get("a", "y")).toBe(3);
});
