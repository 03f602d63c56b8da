/** The playground's API: it takes any limit within its bounds, and says why it refuses other limits. */
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTRPCClient, httpLink } from "@trpc/client";
import { isRateLimitError } from "trpc-rate-limit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createApp } from "../../../example-app/shared/server/app.js";
import { openDatabase } from "../../../example-app/shared/server/database.js";
import type { AppRouter } from "../../../example-app/shared/server/router.js";

const CHOICE = {
  kind: "token bucket",
  rate: 0.1,
  period: 600_000,
  capacity: 4,
  shards: 1,
} as const;

let example: Awaited<ReturnType<typeof startExample>>;
beforeEach(async () => {
  example = await startExample();
});
afterEach(() => example.close());

async function startExample() {
  const folder = await mkdtemp(join(tmpdir(), "example-"));
  const prisma = await openDatabase(`file:${join(folder, "test.db")}`);
  const server = await createApp(prisma, folder);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    prisma,
    /** A visitor with a cookie. */
    async visitor() {
      const cookie = (await fetch(url)).headers.getSetCookie()[0]!.split(";")[0]!;
      const client = createTRPCClient<AppRouter>({
        links: [httpLink({ url: `${url}/trpc`, headers: { cookie } })],
      });
      const status = () => client.rateLimit.status.query({ name: "playground" });
      const { choose, take } = client.playground;
      return { choose, take, status };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await prisma.$disconnect();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

it("charges, denies and tells by the limit that a visitor has chosen, and leaves others alone", async () => {
  const [{ choose, take, status }, other] = [await example.visitor(), await example.visitor()];
  await choose.mutate(CHOICE);
  expect(await take.mutate({ count: 3, reserve: false })).toMatchObject({ value: 1 });
  const denial = await take.mutate({ count: 2, reserve: false }).catch((error: unknown) => error);
  expect(isRateLimitError(denial) && denial.data.rateLimit.config).toMatchObject(CHOICE);
  expect((await status()).config).toMatchObject(CHOICE);
  const owed = await take.mutate({ count: 4, reserve: true });
  expect(owed.value).toBeCloseTo(-3, 3);
  expect(owed.retryAfter).toBeGreaterThan(0);
  // As many as the capacity may be owed, and no more.
  await expect(take.mutate({ count: 2, reserve: true })).rejects.toThrow("exceeded");
  expect((await other.status()).config).toMatchObject({ rate: 30, capacity: 10 });
});

it("takes a calendar month, which begins on the first in UTC", async () => {
  const { choose, take, status } = await example.visitor();
  await choose.mutate({ ...CHOICE, kind: "fixed window", rate: 100, period: "month" });
  const { config, ts, now } = await status();
  expect(config).toMatchObject({ period: "month", start: 0 });
  const { ts: taken } = await take.mutate({ count: 1, reserve: false });
  const date = new Date(now);
  expect([ts, taken]).toEqual(
    Array(2).fill(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)),
  );
});

it("starts each limit with a full bucket, whatever the shards of the one before", async () => {
  const { choose, take, status } = await example.visitor();
  await choose.mutate({ ...CHOICE, capacity: 160, shards: 16 });
  for (let i = 0; i < 8; i++) await take.mutate({ count: 1, reserve: false });
  await choose.mutate({ ...CHOICE, kind: "fixed window" });
  expect(await example.prisma.rateLimit.count({ where: { name: "playground" } })).toBe(0);
  expect(await status()).toMatchObject({ value: 4, config: { kind: "fixed window" } });
});

it.each([
  ["too slow", { rate: 0.05 }, "rate must be from 0.1 to 10,000"],
  ["too quick", { rate: 1e6 }, "rate must be from 0.1 to 10,000"],
  ["of too short a period", { period: 10 }, "period must be from 1,000 to 600,000"],
  ["of half a ms", { period: 1000.5 }, "limit.period must be a whole number"],
  ["of no capacity", { capacity: 0 }, "capacity must be from 1 to 10,000"],
  ["of too many shards", { shards: 1000 }, "shards must be from 1 to 16"],
  ["of half a shard", { shards: 1.5 }, "limit.shards must be a whole number"],
  ["of a month that refills little by little", { period: "month" }, "limit.period must be"],
  ["with a block on shards", { shards: 2, blockFor: 5000 }, "left out of a limit with shards"],
] as const)("does not take a limit %s", async (_what, part, message) => {
  const { choose, status } = await example.visitor();
  await expect(choose.mutate({ ...CHOICE, ...part })).rejects.toThrow(message);
  expect((await status()).config).toMatchObject({ rate: 30, capacity: 10 });
});

it("lets the bucket go on with what was used of it where a choice says so", async () => {
  const { choose, take, status } = await example.visitor();
  await choose.mutate(CHOICE);
  await take.mutate({ count: 3, reserve: false });
  await choose.mutate({ ...CHOICE, capacity: 40, keepsTokens: true });
  expect((await status()).value).toBeCloseTo(37, 2);
  await choose.mutate({ ...CHOICE, capacity: 40 });
  expect((await status()).value).toBe(40);
});

it("denies the choices of a program that makes more than a slider does", async () => {
  const { choose } = await example.visitor();
  // So many that a slow machine, too, makes them faster than ten a second come back.
  const answers = await Promise.allSettled(
    Array.from({ length: 200 }, () => choose.mutate(CHOICE)),
  );
  const errors = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.every((error) => isRateLimitError(error))).toBe(true);
  // A slider makes three a second, and sixty may come at once.
  expect(errors.length).toBeLessThanOrEqual(140);
});
