import { expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";

it("forgets the id of a call whose tokens came back, also where a ms passes in its decision", async () => {
  let now = 1e12;
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock: () => now++,
    limits: { bucket: { kind: "token bucket", rate: 6, period: MINUTE } },
  });
  const call = () => limiter.limit("bucket", { once: "id" });
  const failed = await call();
  expect(await call()).toMatchObject({ repeated: true });
  await limiter.settle(failed, 0);
  // Its work was not done, so the next try is a first one.
  expect(await call()).not.toHaveProperty("repeated");
  expect(await call()).toMatchObject({ repeated: true });
});
