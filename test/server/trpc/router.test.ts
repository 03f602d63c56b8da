import { describe, expect, it } from "vitest";
import { calculateRateLimit, MINUTE } from "../../../server/index.js";
import { startApp } from "../../support/app.js";

describe("the router", () => {
  it("gives a snapshot from which the client calculates what the server would decide", async () => {
    await using app = await startApp();
    const ada = app.as("ada");
    await ada.send.mutate({ text: "hi" });
    app.clock.advance(1234);
    const snapshot = await ada.rateLimit.status.query({ name: "sendMessage" });
    expect(snapshot).toEqual({
      name: "sendMessage",
      value: 2,
      used: 1,
      ts: app.clock() - 1234,
      config: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
      now: app.clock(),
    });
    const { retryAfter } = calculateRateLimit(snapshot, snapshot.config, snapshot.now, 3);
    const checked = await ada.rateLimit.check.query({ name: "sendMessage", count: 3 });
    expect(checked).toMatchObject({ ok: false, retryAfter });
  });

  it("consumes nothing in status and check", async () => {
    await using app = await startApp();
    const ada = app.as("ada");
    for (let i = 0; i < 5; i++) {
      await ada.rateLimit.status.query({ name: "sendMessage" });
      expect(await ada.rateLimit.check.query({ name: "sendMessage", count: 3 })).toMatchObject({
        ok: true,
        value: 0,
      });
    }
    expect(await app.rows()).toEqual([]);
  });

  it("answers a batch of many queries", async () => {
    await using app = await startApp();
    const ada = app.as("ada");
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => ada.rateLimit.status.query({ name: "sendMessage" })),
    );
    expect(answers.every(({ value }) => value === 3)).toBe(true);
  });
});
