/** The errors that operators see when something fails: they contain nothing from inside. */
import { describe, expect, it } from "vitest";
import { memoryStore, MINUTE, RateLimitStoreError } from "../../../../server/index.js";
import { openAdmin } from "../../../support/admin-caller.js";

const limits = {
  bucket: { kind: "token bucket", rate: 1, period: MINUTE, usage: true, holds: true },
  slots: { kind: "concurrency", slots: 1 },
} as const;
const span = { from: 0, to: MINUTE };

type Admin = ReturnType<typeof openAdmin<typeof limits>>["admin"];

const CALLS: [string, (admin: Admin) => Promise<unknown>][] = [
  ["list", (admin) => admin.list({ name: "bucket" })],
  ["list of slots", (admin) => admin.list({ name: "slots" })],
  ["key", (admin) => admin.key({ key: "ada" })],
  ["usage", (admin) => admin.usage({ name: "bucket", ...span })],
  ["ban", (admin) => admin.ban({ name: "bucket", key: "ada" })],
  ["reset", (admin) => admin.reset({ name: "bucket", key: "ada" })],
  ["reset of slots", (admin) => admin.reset({ name: "slots", key: "ada" })],
];

const FAILURES: [title: string, error: () => Error, code: string][] = [
  ["the store fails", () => new RateLimitStoreError("db at 10.0.0.7"), "SERVICE_UNAVAILABLE"],
  ["the code is wrong", () => new TypeError("10.0.0.7 of undefined"), "INTERNAL_SERVER_ERROR"],
];

describe.each(FAILURES)("where %s", (_, error, code) => {
  it.each(CALLS)("%s says no more than that", async (_name, call) => {
    const store = memoryStore();
    const { limiter, admin } = openAdmin(store, limits, { logger: false });
    await limiter.limit("bucket", { key: "ada" });
    await limiter.enter("slots", { key: "ada" });
    await limiter.flushUsage();
    const fail = () => Promise.reject(error());
    store.apply = fail;
    store.list = fail;
    store.overrides!.read = fail;
    store.overrides!.write = fail;
    const failed = (await call(admin).catch((thrown: unknown) => thrown)) as Record<
      string,
      unknown
    >;
    expect(failed).toMatchObject({ name: "TRPCError", code });
    expect(String(failed["message"])).not.toContain("10.0.0.7");
    // Server code finds the reason.
    expect(failed["cause"]).toMatchObject({ message: expect.stringContaining("10.0.0.7") });
  });
});
