/** Header fields of procedures with several middlewares. Some of their charges are undone. */
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { type Item, parseList } from "structured-headers";
import { expect, it } from "vitest";
import { MINUTE } from "../../../server/index.js";
import { rateLimitResponseMeta } from "../../../server/trpc/index.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";
import { listen } from "../../support/serve-fetch.js";

const limit = { kind: "token bucket", rate: 5, period: MINUTE } as const;

/** The limits in the header of the response to `path`, and the tokens left of each. */
async function ask(path: string) {
  const { t, rl } = createLimitedTRPC({ outer: limit, inner: limit, last: limit });
  const fail = () => {
    throw new Error("too bad");
  };
  const onError = t.procedure.use(rl.rateLimited("outer", { on: "error" }));
  const reset = t.procedure.use(rl.rateLimited("outer", { resetOnSuccess: true }));
  const rolledBack = t.procedure.use(rl.rateLimited.transaction("outer"));
  const inner = rl.rateLimited("inner");
  const router = t.router({
    refunded: onError.use(inner).query(() => true),
    reset: reset.use(inner).query(() => true),
    charged: t.procedure.use(inner).query(() => true),
    failed: onError.use(inner).query(fail),
    twice: t.procedure
      .use(inner)
      .use(rl.rateLimited("last", { on: "error" }))
      .use(rl.rateLimited(["outer", "last"], { on: "error" }))
      .query(() => true),
    rolledBack: rolledBack.use(inner).query(fail),
  });
  const responseMeta = rateLimitResponseMeta;
  await using host = await listen(createHTTPServer({ router, responseMeta }));
  const { headers } = await fetch(`${host.url}/${path}`);
  const listed = parseList(headers.get("RateLimit") ?? "") as Item[];
  return Object.fromEntries(listed.map(([name, parameters]) => [name, parameters.get("r")]));
}

it("the header shows the charge of one middleware after another one gave tokens back", async () => {
  expect(await ask("refunded")).toEqual({ inner: 4 });
  expect(await ask("reset")).toEqual({ inner: 4 });
  expect(await ask("twice")).toEqual({ inner: 4 });
  expect(await ask("failed")).toEqual({ outer: 4, inner: 4 });
});

it("the header shows charges outside a transaction that was rolled back", async () => {
  expect(await ask("rolledBack")).toEqual({ inner: 4 });
});

it("the header shows the fewest tokens left if several calls of a batch charge one limit", async () => {
  expect(await ask("charged,charged?batch=1&input=%7B%7D")).toEqual({ inner: 3 });
});
