/** Processes in which nothing but a limiter waits. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const index = new URL("../../../server/index.ts", import.meta.url).href;

/** Stores in which a call keeps nothing alive. */
const STORES = {
  silent: `submit() {}`,
  quick: `submit(job) { setTimeout(() => job.resolve(job.decision.decide([null]).result), 1); }`,
};

/** What a process prints that makes calls. It is killed if it does not end. */
async function output(store: keyof typeof STORES, timeout: number, calls: string): Promise<string> {
  const script = `
    import { createRateLimiter, DAY } from ${JSON.stringify(index)};
    const store = { ${STORES[store]}, apply: () => new Promise(() => {}), clock: Date.now };
    const limits = { few: { kind: "fixed window", rate: 1, period: DAY } };
    const limiter = createRateLimiter({ store, limits, timeout: ${timeout}, logger: false });
    ${calls}`;
  const args = ["--import", "tsx", "--input-type=module", "--eval", script];
  const cwd = fileURLToPath(new URL("../../..", import.meta.url));
  const options = { cwd, timeout: 20_000 };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return stdout;
}

it("a process does not end before its call has failed", async () => {
  const call = `await limiter.limit("few").catch((error) => console.log(error.name));`;
  const twice = await output("silent", 200, `${call} ${call}`);
  expect(twice).toBe("RateLimitStoreError\n".repeat(2));
});

it("a process ends once its calls are answered, and does not wait for their deadline", async () => {
  const call = `console.log((await limiter.limit("few")).ok);`;
  expect(await output("quick", 60_000, `${call} ${call}`)).toBe("true\ntrue\n");
});
