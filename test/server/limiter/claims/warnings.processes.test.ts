/** Three processes use up a limit. Each of them may be killed: no warning is lost, and none has two ids. */
import { expect, it, onTestFinished, vi } from "vitest";
import { createRateLimiter, MINUTE, type RateLimitWarning } from "../../../../server/index.js";
import { bundleProgram } from "../../../support/bundle-program.js";
import { serverDatabases, startLines } from "../../../support/key-processes.js";
import { openStore, type StoreKind } from "../../../support/open-store.js";
import { limits } from "../../../support/warned-caller.js";

const PROCESS = await bundleProgram(new URL("../../../support/warned-caller.ts", import.meta.url));
const ROUNDS = process.env["NIGHTLY"] ? 8 : 2;

const rising = (levels: Iterable<number>) => [...levels].toSorted((a, b) => a - b);

/** Starts a process, which ends with the test. Every warning that it is told is noted. */
async function start(kind: StoreKind, url: string, told: RateLimitWarning[]) {
  const { child, lines } = await startLines(PROCESS, kind, url);
  let done: () => void = () => {};
  lines.on("line", (line) => {
    if (line === "done") done();
    else told.push(JSON.parse(line) as RateLimitWarning);
  });
  lines.on("close", () => done());
  return {
    /** Uses up the limit of a key. Resolves when it is used up, and when the process was killed. */
    use: (key: string) =>
      new Promise<void>((resolve) => {
        done = resolve;
        child.stdin.write(`${key}\n`);
      }),
    kill: () => child.kill("SIGKILL"),
  };
}

it.each(serverDatabases)(
  "tells each level at least once, and with one id, although processes are killed (%s)",
  { timeout: 60_000 },
  async (kind, open) => {
    const database = await open();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const told: RateLimitWarning[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const processes = await Promise.all([1, 2, 3].map(() => start(kind, database.url, told)));
      const key = `key ${round}`;
      const used = processes.map((each) => each.use(key));
      const isOver = Promise.all(used).then(() => true);
      // As soon as a level was crossed, by any of them; then again, and one process is left.
      for (const [i, level] of [0, 0.5].entries()) {
        const isTold = () => told.some((each) => each.key === key && each.level > level);
        await Promise.race([
          isOver,
          vi.waitUntil(isTold, { interval: 1, timeout: 20_000 }).catch(() => {}),
        ]);
        processes[i]!.kill();
      }
      await Promise.all(used);
      processes[2]!.kill();
    }
    // A later process tells what those have left.
    const { store, close } = openStore(kind, database.url);
    onTestFinished(close);
    const clock = () => Date.now() + 5 * MINUTE;
    const limiter = createRateLimiter({ store, limits, clock, timeout: 20_000 });
    const stop = limiter.onWarning((warning) => void told.push(warning));
    await vi.waitUntil(async () => (await limiter.warnings("quota")).length === 0, {
      timeout: 30_000,
    });
    stop();
    for (let round = 0; round < ROUNDS; round++) {
      const key = `key ${round}`;
      expect((await limiter.getValue("quota", { key })).value).toBe(0);
      const own = told.filter((each) => each.key === key);
      const ids = new Map(own.map(({ id, level }) => [id, level]));
      expect({ key, levels: rising(ids.values()) }).toEqual({
        key,
        levels: [...limits.quota.warnAt],
      });
      // The same text each time.
      for (const each of own) expect(own.find(({ id }) => id === each.id)).toEqual(each);
    }
  },
);
