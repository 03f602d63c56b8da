/** The sales of the guide to plan and credits, and their times, by the code on the page. */
import { expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { DAY, HOUR } from "../../core/durations.js";
import { importBlock } from "../support/docs-module.js";

const PAGE = "docs/guides/plan-and-credits.md";

interface Payments {
  paid(event: { id: string; userId: string; credits: number }): Promise<number>;
}
interface Limits {
  create(clock: () => number): unknown;
}

it("adds a payment once, also when its event is sent again weeks later", async () => {
  const clock = createManualClock();
  const { create } = await importBlock<Limits>(PAGE, "server/limits.ts", (code) =>
    code
      .replace('import { prisma } from "./prisma.js";', "")
      .replace("prismaStore }", "memoryStore }")
      .replace("store: prismaStore(prisma),", "store: memoryStore(), clock,")
      .replace(
        "export const limiter = createRateLimiter(",
        "export const create = (clock: () => number) => createRateLimiter(",
      ),
  );
  const shared = globalThis as { documentedLimiter?: unknown };
  shared.documentedLimiter = create(clock);
  const { paid } = await importBlock<Payments>(PAGE, "server/payments.ts", (code) =>
    code.replace(
      'import { limiter } from "./limits.js";',
      "const limiter = (globalThis as any).documentedLimiter;",
    ),
  );
  delete shared.documentedLimiter;

  const payment = { id: "evt_1", userId: "ada", credits: 100 };
  const start = clock();
  const seen: number[] = [await paid(payment)];
  for (const later of [25 * HOUR, 71 * HOUR, 13 * DAY, 30 * DAY - 1]) {
    clock.advance(start + later - clock());
    seen.push(await paid(payment));
  }
  expect(seen).toEqual([100, 100, 100, 100, 100]);
  expect(await paid({ ...payment, id: "evt_2" })).toBe(200);
});
