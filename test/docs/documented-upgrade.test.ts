/** The guide's change of plan: its code, on a real database. */
import { expect, it } from "vitest";
import {
  changeDigest,
  createRateLimiter,
  prismaStore,
  type RateLimiter,
} from "../../server/index.js";
import { createManualClock } from "../../core/testing.js";
import { createSqlite } from "../support/database.js";
import { importBlock } from "../support/docs-module.js";

type Plan = "free" | "pro";

interface Guide {
  limiter: RateLimiter<
    { pictures: { kind: "fixed window"; period: "month"; plans: Record<Plan, number> } },
    unknown,
    "limiter"
  >;
  changePlan(userId: string, plan: Plan): Promise<void>;
}

async function openGuide() {
  const database = await createSqlite();
  const { prisma } = database;
  const planOf = new Map<string, Plan>();
  const shared = globalThis as { upgradeOf?: object };
  shared.upgradeOf = {
    prisma,
    findPlan: async (userId: string) => planOf.get(userId) ?? "free",
    savePlan: async (userId: string, plan: Plan) => void planOf.set(userId, plan),
  };
  const guide = await importBlock<Guide>("docs/guides/plans.md", "server/change-plan.ts", (code) =>
    code
      .replace('import { findPlan, savePlan } from "./accounts.js";\n', "")
      .replace(
        'import { prisma } from "./prisma.js";',
        "const { prisma, findPlan, savePlan } = (globalThis as any).upgradeOf;",
      ),
  );
  delete shared.upgradeOf;
  const { limiter } = guide;
  return {
    ...guide,
    upgrade: (userId: string) => guide.changePlan(userId, "pro"),
    downgrade: (userId: string) => guide.changePlan(userId, "free"),
    left: async (key: string) => (await limiter.getValue("pictures", { key })).value,
    use: (key: string, count: number) => limiter.limit("pictures", { key, count }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

it.each([
  [5, 45],
  [2, 48],
  [0, 50],
])("gives who has used %s of 5 what is left of 50: %s", async (used, left) => {
  await using at = await openGuide();
  for (const user of ["ann", "bob"]) await at.use(user, used);
  await at.upgrade("ann");
  expect(await at.left("ann")).toBe(left);
  expect((await at.use("ann", left)).ok).toBe(true);
  expect(await at.use("ann", 1)).toMatchObject({ ok: false });
  // Others are as they were.
  expect(await at.left("bob")).toBe(5 - used);
});

it("raises once, however often the webhook is sent", async () => {
  await using at = await openGuide();
  await at.use("ann", 5);
  await Promise.all([at.upgrade("ann"), at.upgrade("ann"), at.upgrade("ann")]);
  expect(await at.left("ann")).toBe(45);
  await at.use("ann", 10);
  await at.upgrade("ann");
  expect(await at.left("ann")).toBe(35);
});

it("loses nothing by a late call of the old plan, and gains nothing to and fro", async () => {
  await using at = await openGuide();
  await at.use("ann", 5);
  await at.upgrade("ann");
  await at.use("ann", 15);
  const late = await at.limiter.limit("pictures", { key: "ann", plan: "free" });
  expect(late).toMatchObject({ ok: false, value: 0 });
  await at.downgrade("ann");
  await at.upgrade("ann");
  expect(await at.left("ann")).toBe(30);
});

it("gives who is downgraded nothing until the next window, and not a debt", async () => {
  await using at = await openGuide();
  await at.upgrade("ann");
  await at.use("ann", 20);
  await at.downgrade("ann");
  expect(await at.use("ann", 1)).toMatchObject({ ok: false, value: 0 });
});

it("tells those who follow the changes of the user's plan", async () => {
  await using at = await openGuide();
  const heard: string[] = [];
  at.limiter.onChange((digest) => void heard.push(digest));
  await at.upgrade("ann");
  expect(heard).toHaveLength(1);
  // It is no change of the bucket.
  expect(heard).not.toContain(changeDigest("pictures", "ann"));
});

it("leaves what was used with an override, as the guide to a support page says", async () => {
  await using database = await createSqlite();
  const limits = { pictures: { kind: "fixed window", rate: 5, period: 1000, start: 0 } } as const;
  const store = prismaStore(database.prisma);
  const clock = createManualClock(500);
  const limiter = createRateLimiter({ store, limits, clock, overrides: true });
  const key = "ann";
  const left = async () => (await limiter.getValue("pictures", { key })).value;
  await limiter.limit("pictures", { key, count: 5 });
  await limiter.overrides.set("pictures", { key, times: 3 });
  expect(await left()).toBe(10);
  await limiter.overrides.clear("pictures", { key });
  expect(await left()).toBe(0);
  await limiter.overrides.set("pictures", { key, times: 3 });
  expect(await limiter.limit("pictures", { key, count: 3 })).toMatchObject({ ok: true, value: 7 });
  clock.advance(500);
  expect(await left()).toBe(15);
});
