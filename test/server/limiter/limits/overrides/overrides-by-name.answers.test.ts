/** Overrides over each other and over plans that answer all calls. */
import { expect, it } from "vitest";
import { createRateLimiter, DAY, HOUR, memoryStore, MINUTE } from "../../../../../server/index.js";
import { createManualClock } from "../../../../../testing/index.js";
import { openAdmin } from "../../../../support/admin-caller.js";

const START = Date.UTC(2030, 0, 1);
const ada = { key: "ada" };
const limits = {
  send: {
    kind: "token bucket",
    period: HOUR,
    plans: { free: 10, none: "none", all: "unlimited" },
  },
} as const;
const plans = ["free", "none", "all"] as const;

function create() {
  const clock = createManualClock(START);
  const store = memoryStore();
  return {
    clock,
    store,
    ...openAdmin(store, limits, { clock, plans, plan: () => "free" } as never),
  };
}

it("a reset fills the bucket beneath two answers", async () => {
  for (const plan of ["none", "all"] as const) {
    for (const answer of [{ blocked: true }, { unlimited: true }] as const) {
      const { limiter } = create();
      const of = { ...ada, plan: "free" } as never;
      await limiter.charge("send", { ...ada, plan: "free", count: 6 } as never);
      await limiter.overrides.set("send", { ...ada, plan } as never);
      await limiter.overrides.set("send", { ...ada, ...answer });
      await limiter.reset("send", ada);
      await limiter.overrides.clear("send", ada);
      expect((await limiter.getValue("send", of)).value).toBe(10);
    }
  }
});

it("operators see when a plan that answers all calls ends, also with a top-up over it", async () => {
  const { admin, limiter } = create();
  await limiter.overrides.set("send", { ...ada, plan: "none", until: START + HOUR } as never);
  const { item } = await admin.give({ name: "send", key: "ada", add: 5 });
  const call = await limiter.check("send", { ...ada, plan: "free" } as never);
  expect(call).toMatchObject({ ok: false, retryAfter: HOUR });
  expect(item.retryAfter).toBe(HOUR);
});

it("an override takes the place of one of its kind that an earlier version has set", async () => {
  const clock = createManualClock(START);
  const store = memoryStore();
  const bucket = { kind: "token bucket", rate: 10, period: MINUTE } as const;
  const limiter = createRateLimiter({ store, clock, limits: { send: bucket }, overrides: true });
  const row = { name: "send", key: "ada", until: START + DAY, setAt: START - 1 };
  await store.overrides!.write({ ...row, rule: '{"blocked":true}' });
  await limiter.overrides.set("send", { ...ada, blocked: true, until: START + HOUR });
  clock.advance(HOUR);
  expect((await limiter.check("send", ada)).ok).toBe(true);
  await store.overrides!.write({ ...row, rule: '{"times":3}', setAt: clock() });
  clock.advance(MINUTE);
  await limiter.overrides.set("send", { ...ada, times: 2 });
  expect((await limiter.getValue("send", ada)).value).toBe(20);
});

it("an undo brings back what an earlier version has set", async () => {
  const { admin, limiter, store } = create();
  const row = { name: "send", key: "ada", until: START + DAY, setAt: START - 1 };
  await store.overrides!.write({ ...row, rule: '{"blocked":true}' });
  const { change } = await admin.ban({ name: "send", key: "ada", for: HOUR });
  expect(await limiter.overrides.list()).toMatchObject([{ blocked: true, until: START + HOUR }]);
  await admin.undo({ id: change! });
  expect(await limiter.overrides.list()).toMatchObject([{ blocked: true, until: START + DAY }]);
});
