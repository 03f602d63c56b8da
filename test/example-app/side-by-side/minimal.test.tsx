// @vitest-environment jsdom
import { screen } from "@testing-library/react";
import { initTRPC } from "@trpc/server";
import { expect, it } from "vitest";
import { createRateLimiter, memoryStore } from "trpc-rate-limit/server";
import { createProcedures, limits, WhatIsLeft } from "../../../example-app/side-by-side/minimal.js";
import { PLANS } from "../../../example-app/model/limits.js";
import { LIMITS } from "../../../example-app/shared/server/limiter.js";
import type { Context } from "../../../example-app/shared/server/trpc.js";
import { mountExample } from "../../support/mount-example.js";

it("takes from the visitor's own bucket, and from the one of all visitors", async () => {
  expect(LIMITS).toMatchObject(limits);
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: LIMITS,
    plans: PLANS,
    plan: () => "free",
  });
  const t = initTRPC.context<Context>().create();
  const router = t.router(
    createProcedures({ t, limiter } as unknown as Parameters<typeof createProcedures>[0]),
  );
  await mountExample(router, "ada", () => <WhatIsLeft />);
  const [ada, bob] = ["ada", "bob"].map((visitor) => router.createCaller({ visitor, process: 1 }));
  const left = (messages: number, accounts: number) =>
    screen.findByText(`You have ${messages} messages. All visitors have ${accounts} accounts.`);

  await left(3, 100);
  for (let i = 0; i < 3; i++) await bob!.send();
  await bob!.signUp();
  await left(3, 99);
  await expect(bob!.send()).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
  await ada!.send();
  await ada!.signUp();
  await left(2, 98);
});
