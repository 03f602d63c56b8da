import { createRequire } from "node:module";
import * as esm from "@trpc/server";
import { expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";
import { createRateLimitTRPC } from "../../../server/trpc/index.js";

/** The other copy of tRPC, which CommonJS code gets. */
const commonJs = createRequire(import.meta.url)("@trpc/server") as typeof esm;

it("conceals a limit in an error that CommonJS code has thrown", async () => {
  expect(commonJs.TRPCError).not.toBe(esm.TRPCError);
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: {
      shown: { kind: "fixed window", rate: 1, period: MINUTE },
      hidden: { kind: "fixed window", rate: 1, period: MINUTE },
    },
  });
  const t = commonJs.initTRPC.create();
  const rl = createRateLimitTRPC({
    t,
    limiter,
    expose: ["shown"],
    key: ({ name }) => {
      throw new commonJs.TRPCError({ code: "BAD_REQUEST", message: `no key of "${name}"` });
    },
  });
  const router = t.router({ send: t.procedure.use(rl.rateLimited("hidden")).query(() => "sent") });
  const sending = router.createCaller({}).send();
  await expect(sending).rejects.toMatchObject({
    code: "BAD_REQUEST",
    message: "The request is not valid",
  });
});
