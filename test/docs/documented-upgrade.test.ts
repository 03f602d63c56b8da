/** The guide's change of plan: its code, on a real database. */
import { expect, it } from "vitest";
import { createRateLimiter, prismaStore, type RateLimiter } from "../../server/index.js";
import { createManualClock } from "../../core/testing.js";
import { createSqlite } from "../support/database.js";
import { importBlock } from "../support/docs-module.js";

type Plan = "free" | "pro";

interface Change {
  userId: string;
  from: Plan;
  to: Plan;
}

interface Guide {
  plans: Record<Plan, { kind: "fixed window"; period: "month"; start: 0; rate: number }>;
  limiter: RateLimiter<{ pictures: Guide["plans"]["free"] }>;
  change(change: Change): Promise<void>;
}

async function openGuide() {
  const database = await createSqlite();
  const { prisma } = database;
  await prisma.$executeRawUnsafe('CREATE TABLE "Account" ("id" TEXT PRIMARY KEY, "plan" TEXT)');
  const shared = globalThis as { upgradeOf?: object };
  shared.upgradeOf = {
    prisma,
    changePlan: (tx: typeof prisma, { userId, from, to }: Change) =>
      tx.$executeRawUnsafe(
        `UPDATE "Account" SET "plan" = '${to}' WHERE "id" = '${userId}' AND "plan" = '${from}'`,
      ),
  };
  const guide = await importBlock<Guide>("docs/guides/tiers.md", "server/change-plan.ts", (code) =>
    code
      .replace('import { changePlan } from "./accounts.js";\n', "")
      .replace(
        'import { prisma } from "./prisma.js";',
        "const { prisma, changePlan } = (globalThis as any).upgradeOf;",
      ),
  );
  delete shared.upgradeOf;
  const { limiter, plans } = guide;
  return {
    ...guide,
    async join(userId: string, used: number) {
      await prisma.$executeRawUnsafe(`INSERT INTO "Account" VALUES ('${userId}', 'free')`);
      if (used > 0) await limiter.limit("pictures", { key: userId, count: used });
    },
    upgrade: (userId: string) => guide.change({ userId, from: "free", to: "pro" }),
    downgrade: (userId: string) => guide.change({ userId, from: "pro", to: "free" }),
    left: async (key: string) => {
      return (await limiter.getValue("pictures", { key, config: plans.pro })).value;
    },
    use: (key: string, count: number) =>
      limiter.limit("pictures", { key, count, config: plans.pro }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

it.each([
  [5, 45],
  [2, 48],
  [0, 50],
])("gives who has used %s of 5 what is left of 50: %s", async (used, left) => {
  await using at = await openGuide();
  await at.join("ann", used);
  await at.join("bob", used);
  // Without it, a window that is used up stays so, whatever the new plan is.
  if (used > 0) expect(await at.left("ann")).toBe(5 - used);
  await at.upgrade("ann");
  expect(await at.left("ann")).toBe(left);
  expect((await at.use("ann", left)).ok).toBe(true);
  expect(await at.use("ann", 1)).toMatchObject({ ok: false });
  // Others are as they were.
  if (used > 0) expect(await at.left("bob")).toBe(5 - used);
});

it("raises once, however often the webhook is sent", async () => {
  await using at = await openGuide();
  await at.join("ann", 5);
  await Promise.all([at.upgrade("ann"), at.upgrade("ann"), at.upgrade("ann")]);
  expect(await at.left("ann")).toBe(45);
  await at.use("ann", 10);
  await at.upgrade("ann");
  expect(await at.left("ann")).toBe(35);
});

it("gives who is downgraded nothing until the next window, and not a debt", async () => {
  await using at = await openGuide();
  await at.join("ann", 5);
  await at.upgrade("ann");
  await at.use("ann", 15);
  await at.downgrade("ann");
  expect(await at.limiter.limit("pictures", { key: "ann" })).toMatchObject({ ok: false, value: 0 });
});

it("moves what is left with an override, as the guide to a support page says", async () => {
  await using database = await createSqlite();
  const limits = { pictures: { kind: "fixed window", rate: 5, period: 1000, start: 0 } } as const;
  const store = prismaStore(database.prisma);
  const clock = createManualClock(500);
  const limiter = createRateLimiter({ store, limits, clock, overrides: true });
  const key = "ann";
  await limiter.limit("pictures", { key, count: 5 });
  await limiter.overrides.set("pictures", { key, times: 3 });
  expect(await limiter.limit("pictures", { key, count: 3 })).toMatchObject({ ok: true, value: 7 });
  await limiter.overrides.clear("pictures", { key });
  expect((await limiter.getValue("pictures", { key })).value).toBe(-3);
  await limiter.overrides.set("pictures", { key, times: 3 });
  clock.advance(500);
  expect((await limiter.getValue("pictures", { key })).value).toBe(15);
});
