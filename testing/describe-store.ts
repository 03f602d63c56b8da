/**
 * The tests that every store has to pass, for the author of a store or of a driver. A store is correct if
 * decisions behave as if they ran one after the other. The tests look for the ways in which stores, and
 * the drivers under them, fail at this.
 */
import { testOverrides } from "./store-tests/overrides.js";
import { testRows } from "./store-tests/rows.js";
import { testSharing } from "./store-tests/sharing.js";
import { testTakes } from "./store-tests/takes.js";
import { testTransactions } from "./store-tests/transactions.js";
import { testUpkeep } from "./store-tests/upkeep.js";
import type { StoreUnderTest } from "./store-under-test.js";
import type { TestDefiner, TestRunner } from "./test-runner.js";

/** The tests by their subject. */
export const GROUPS: Readonly<
  Record<string, (runner: TestDefiner, opened: () => StoreUnderTest) => void>
> = {
  rows: testRows,
  takes: testTakes,
  sharing: testSharing,
  transactions: testTransactions,
  upkeep: testUpkeep,
  overrides: testOverrides,
};

/**
 * Defines the tests of a store. Works with Vitest, Jest, and every runner that has functions of these
 * names. Each test needs less than five seconds on a local database.
 *
 * @param runner `{ describe, it, beforeEach, afterEach, expect }` of the test runner.
 * @param name the name of the store, for the title of the tests.
 * @param open called before each test. Resolves with a store with an existing, empty table, and with a
 * function that closes the store. If possible, also with a second store on the same rows.
 *
 * @example
 * import { afterEach, beforeEach, describe, expect, it } from "vitest";
 * import { memoryStore } from "trpc-rate-limit/server";
 * import { describeStore } from "trpc-rate-limit/testing";
 *
 * describeStore({ describe, it, beforeEach, afterEach, expect }, "my store", async () => ({
 *   store: memoryStore(),
 *   close: async () => {},
 * }));
 */
export function describeStore(
  runner: TestRunner,
  name: string,
  open: () => Promise<StoreUnderTest>,
): void {
  const { describe, beforeEach, afterEach } = runner;
  describe(`${name} as a store`, () => {
    let opened: StoreUnderTest | undefined;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(async () => {
      const { close } = { ...opened };
      opened = undefined;
      await close?.();
    });

    for (const test of Object.values(GROUPS)) {
      test(runner, () => opened!);
    }
  });
}
