/** An `acquire` that is aborted while its store fails. */
import { expect, it } from "vitest";
import { createManualClock } from "../../../../../core/testing.js";
import { createRateLimiter, memoryStore, SECOND } from "../../../../../server/index.js";

it("rejects with the reason of the signal, also where the tokens cannot be given back", async () => {
  const store = memoryStore();
  const clock = createManualClock();
  let isDown = false;
  const limiter = createRateLimiter({
    store: {
      apply: (decisions) => {
        if (isDown) return Promise.reject(new Error("no connection"));
        return store.apply(decisions);
      },
    },
    clock,
    sleep: clock.sleep,
    logger: false,
    limits: { one: { kind: "token bucket", rate: 1, period: SECOND } },
  });
  await limiter.acquire("one");
  const controller = new AbortController();
  const waiting = limiter.acquire("one", { signal: controller.signal });
  await expect.poll(() => clock.sleepers()).toBe(1);
  isDown = true;
  const reason = new Error("the visitor has left");
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  // The tokens stay taken.
  isDown = false;
  expect(await limiter.getValue("one")).toMatchObject({ value: -1 });
});
