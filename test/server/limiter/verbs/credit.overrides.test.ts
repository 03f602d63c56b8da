/** Credits while an override exempts or blocks their key. */
import { expect, it } from "vitest";
import { createRateLimiter, memoryStore } from "../../../../server/index.js";

const limits = { credits: { kind: "credits" } } as const;
const key = "ada";

it.each([{ unlimited: true }, { blocked: true }] as const)(
  "adds what was bought while an override says %o",
  async (rule) => {
    const limiter = createRateLimiter({ store: memoryStore(), limits, overrides: true });
    await limiter.credit("credits", { key, count: 1 });
    await limiter.overrides.set("credits", { key, ...rule });
    const payment = { key, count: 5, once: "payment 1" };
    expect(await limiter.credit("credits", payment)).toEqual({ value: 6, credited: 5 });
    expect(await limiter.credit("credits", payment)).toMatchObject({ repeated: true });
    await limiter.overrides.clear("credits", { key });
    expect((await limiter.getValue("credits", { key })).value).toBe(6);
  },
);
