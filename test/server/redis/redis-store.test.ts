import { describe, it } from "vitest";
import { createRedisRows, NO_REDIS, redisUrl } from "../../support/redis-rows.js";
import { describeStore } from "../store/contract.js";

if (redisUrl === undefined) {
  describe("redisStore", () => {
    it("passes the contract", ({ skip }) => skip(NO_REDIS));
  });
} else {
  /** The contract has tests of transactions, and of a prune that deletes. Redis has neither. */
  const withoutTransactions = { transaction: undefined, using: undefined, prune: undefined };

  for (const resends of [true, false]) {
    const clientOptions = { autoResendUnfulfilledCommands: resends };
    const marks = resends ? "with marks" : "without marks";
    describeStore(`redisStore ${marks}`, async () => {
      const rows = createRedisRows();
      const open = () => ({ ...rows.open({}, clientOptions), ...withoutTransactions }) as never;
      return { store: open(), peer: open(), close: () => rows[Symbol.asyncDispose]() };
    });
  }
}
