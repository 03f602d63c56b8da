import { expect, it, vi } from "vitest";
import { planDigest } from "../../../../server/changes/plan-digest.js";
import { createRateLimiter, memoryStore, MINUTE } from "../../../../server/index.js";

function opened() {
  const publish = vi.fn();
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { calls: { kind: "token bucket", rate: 5, period: MINUTE } },
    channel: { publish, subscribe: () => () => {} },
  });
  const heard = vi.fn();
  limiter.onChange(heard);
  return { limiter, publish, heard };
}

it("tells this process and the channel of the key, and of no limit", () => {
  const { limiter, publish, heard } = opened();
  limiter.planChanged("ada");
  expect(heard.mock.calls.flat()).toEqual([planDigest("ada")]);
  expect(publish.mock.calls.flat()).toContain(planDigest("ada"));
});

it("tells after the commit of a transaction, and nothing of one that is rolled back", async () => {
  const { limiter, heard } = opened();
  const failure = new Error("the payment has failed");
  const failing = limiter.transaction(async ({ planChanged }) => {
    planChanged("bob");
    throw failure;
  });
  await expect(failing).rejects.toBe(failure);
  await limiter.transaction(async ({ planChanged }) => {
    planChanged("ada");
    expect(heard).not.toHaveBeenCalled();
  });
  expect(heard.mock.calls.flat()).toEqual([planDigest("ada")]);
});

it.each([[undefined], [""], [7]])("refuses %s, which is no key", (key) => {
  const { limiter, heard } = opened();
  expect(() => limiter.planChanged(key as string)).toThrow(/key/);
  expect(heard).not.toHaveBeenCalled();
});
