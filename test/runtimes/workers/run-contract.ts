/** Runs the contract of stores inside a worker, where there is no test runner. */
import type { StoreUnderTest } from "../../../testing/index.js";
import { describeStore } from "../../../testing/describe-store.js";

export interface ContractResult {
  title: string;
  /** Why the test has failed. Absent if it has passed. */
  failure?: string;
  /** Why the test was skipped. */
  skipped?: string;
}

class Skip {
  constructor(readonly reason: string) {}
}

const context = {
  skip(reason: string): never {
    throw new Skip(reason);
  },
};

export async function runContract(open: () => Promise<StoreUnderTest>): Promise<ContractResult[]> {
  const tests: { title: string; run: (given: typeof context) => Promise<void> }[] = [];
  let before = async () => {};
  let after = async () => {};
  const runner = {
    describe: (_title: string, define: () => void) => define(),
    it: (title: string, run: () => Promise<void>) => tests.push({ title, run }),
    beforeEach: (run: () => Promise<void>) => void (before = run),
    afterEach: (run: () => Promise<void>) => void (after = run),
    expect: (actual: unknown) => ({
      toBe: (expected: unknown) => check(Object.is(actual, expected), actual, expected),
      toEqual: (expected: unknown) => check(isEqual(actual, expected), actual, expected),
    }),
  };
  describeStore(runner, "", open);
  const results: ContractResult[] = [];
  for (const { title, run } of tests) {
    await before();
    try {
      await run(context);
      results.push({ title });
    } catch (error) {
      if (error instanceof Skip) results.push({ title, skipped: error.reason });
      else results.push({ title, failure: String(error) });
    } finally {
      await after();
    }
  }
  return results;
}

function check(isRight: boolean, actual: unknown, expected: unknown): void {
  if (!isRight) {
    throw new Error(`got ${JSON.stringify(actual)} and not ${JSON.stringify(expected)}`);
  }
}

/** Deep equality. Properties that are `undefined` do not count. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a, b] as Record<string, unknown>[];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => {
    return isEqual(left![key], right![key]);
  });
}
