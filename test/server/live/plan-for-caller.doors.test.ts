/** `plan` over the router and over the handler: every answer about a limit goes by the caller's plan. */
import { describe, expect, it, vi } from "vitest";
import { createRateLimiter, memoryStore, type RateLimitSnapshot } from "../../../server/index.js";
import { type Door, DOORS, type DoorCaller, openDoor } from "../../support/live-doors.js";
import { FREE, PAID, type Tier, TIERS } from "../../support/tiers.js";

interface Context {
  user: string;
}
type Plan = (call: { ctx: Context; name: string; key: string | undefined }) => Tier;

const send = { name: "send" };
const byUser: Plan = ({ ctx }) => (ctx.user === "grace" ? "paid" : "free");

function start(door: Door, plan: Plan | undefined = byUser, limiterPlan?: () => Tier) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock: () => 0,
    ...TIERS,
    ...(limiterPlan && { plan: limiterPlan }),
  });
  const create = openDoor<Context>(door, {
    limiter,
    ...(plan && { plan: plan as never }),
    key: ({ ctx, requested }: { ctx: Context; requested?: string }) =>
      ctx.user === "nobody" ? null : (requested ?? ctx.user),
    authorize: ({ ctx }) => ctx.user !== "eve",
  });
  return { limiter, as: (user: string) => create({ user }) };
}

async function firstOf({ watch }: DoorCaller): Promise<RateLimitSnapshot> {
  for await (const snapshot of await watch({ items: [send] })) return snapshot;
  return expect.fail("the stream has ended");
}

describe.each(DOORS)("over the %s", (door) => {
  it("status and watch tell a free and a paying caller the config of their plan", async () => {
    const { as } = start(door);
    const ofFree = { plan: "free", config: FREE, value: 3 };
    const ofPaid = { plan: "paid", config: PAID, value: 30 };
    expect(await as("ada").status(send)).toMatchObject(ofFree);
    expect(await as("grace").status(send)).toMatchObject(ofPaid);
    expect(await firstOf(as("ada"))).toMatchObject(ofFree);
    expect(await firstOf(as("grace"))).toMatchObject(ofPaid);
  });

  it("callers may ask for as many tokens as their plan can hold", async () => {
    const { as } = start(door);
    for (const action of ["status", "check", "limit"] as const) {
      await as("ada")[action]({ ...send, count: 3 });
      await as("grace")[action]({ ...send, count: 30 });
      for (const [user, count] of [
        ["ada", 4],
        ["grace", 31],
      ] as const) {
        await expect(as(user)[action]({ ...send, count })).rejects.toMatchObject({
          code: "PAYLOAD_TOO_LARGE",
        });
      }
    }
  });

  it("a plan without a bound takes any number, and a plan of none denies", async () => {
    const { as } = start(door);
    const video = { name: "video", count: 1e6 };
    expect(await as("grace").check(video)).toMatchObject({ ok: true });
    expect(await as("grace").status(video)).toMatchObject({
      plan: "paid",
      config: { shadow: true },
    });
    expect(await as("ada").check({ name: "video" })).toMatchObject({ ok: false });
    expect(await as("ada").status({ name: "video" })).toMatchObject({ value: 0 });
  });

  it("limit and reset go by the plan, also of a limit with shards", async () => {
    const { as } = start(door);
    const { limit, reset, status } = as("grace");
    for (let i = 0; i < 10; i++) await limit({ name: "spread" });
    expect(await status({ name: "spread" })).toMatchObject({ value: 20 });
    await reset({ name: "spread" });
    expect(await status({ name: "spread" })).toMatchObject({ value: 30 });
  });

  it("the function gets context, name and key, of limits with plans alone", async () => {
    const plan = vi.fn<Plan>(() => "free");
    const { as } = start(door, plan);
    await as("ada").status({ name: "upload", key: "team" });
    await as("ada").status({ name: "all" });
    expect(plan.mock.calls).toHaveLength(1);
    expect(plan.mock.calls[0]![0]).toMatchObject({
      ctx: { user: "ada" },
      name: "upload",
      key: "team",
    });
  });

  it("the function is not called without a key, or without a right to limit and reset", async () => {
    const plan = vi.fn<Plan>();
    const { as } = start(door, plan);
    await expect(as("nobody").status(send)).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(as("eve").reset(send)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(plan).not.toHaveBeenCalled();
  });

  it("the function goes before that of the limiter, which is enough alone", async () => {
    const asking = () => "free" as const;
    expect(
      await start(door, () => "paid", asking)
        .as("ada")
        .status(send),
    ).toMatchObject({ plan: "paid" });
    const alone = openDoor<Context>(door, {
      limiter: createRateLimiter({ store: memoryStore(), ...TIERS, plan: asking }),
      key: ({ ctx }: { ctx: Context }) => ctx.user,
    });
    expect(await alone({ user: "ada" }).status(send)).toMatchObject({ plan: "free" });
  });

  it.each([["gold"], [undefined], [null], [FREE]])(
    "the answer %j is an error that tells the client nothing internal",
    async (answer) => {
      const { as, limiter } = start(door, (() => answer) as unknown as Plan);
      const { status, check, limit, reset } = as("ada");
      for (const call of [status, check, limit, reset]) {
        await expect(call(send)).rejects.toMatchObject({
          code: "INTERNAL_SERVER_ERROR",
          message: "A rate limit of this request has no valid config",
          cause: { name: "RateLimitConfigError", option: "plan" },
        });
      }
      await expect(firstOf(as("ada"))).rejects.toMatchObject({ code: "INTERNAL_SERVER_ERROR" });
      expect((await limiter.getValue("send", { key: "ada", plan: "free" })).value).toBe(3);
    },
  );
});
