import { expect, it } from "vitest";
import { createRateLimiter, isRateLimitError, memoryStore } from "../../../../server/index.js";

const limits = {
  daily: { kind: "fixed window", rate: 1, period: "day", timeZone: "Europe/Berlin" },
  credits: { kind: "credits" },
} as const;

it.each(["limitFirst", "limitAll"] as const)(
  "names the windows of a time zone by their starts in each denial of %s",
  async (method) => {
    const limiter = createRateLimiter({ store: memoryStore(), limits });
    await limiter.limit("daily");
    const items = [{ name: "credits" }, { name: "daily" }] as const;
    const denied: Promise<unknown> =
      method === "limitAll"
        ? limiter.limitAll(items, { throws: true })
        : limiter.limitFirst(items, { throws: true });
    const error = await denied.catch((reason: unknown) => reason);
    if (!isRateLimitError(error)) throw error;
    const daily = error.data.rateLimit.denials?.find(({ name }) => name === "daily");
    expect(daily?.config.starts).toEqual(expect.arrayContaining([expect.any(Number)]));
  },
);
