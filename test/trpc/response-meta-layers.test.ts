/** Header fields of procedures behind several middlewares, some of whose charges are undone. */
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type Item, parseList } from "structured-headers";
import { expect, it } from "vitest";
import { MINUTE, rateLimitResponseMeta } from "../../server/index.js";
import { createLimitedTRPC } from "../support/limited-trpc.js";

const limit = { kind: "token bucket", rate: 5, period: MINUTE } as const;

/** For each path, the limits that the response's header tells of, and what is left of them. */
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
  const server = createHTTPServer({ router, responseMeta: rateLimitResponseMeta }).listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const { headers } = await fetch(`http://127.0.0.1:${port}/${path}`);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const told = parseList(headers.get("RateLimit") ?? "") as Item[];
  return Object.fromEntries(told.map(([name, parameters]) => [name, parameters.get("r")]));
}

it("what one middleware gives back hides nothing of what another one has charged", async () => {
  expect(await ask("refunded")).toEqual({ inner: 4 });
  expect(await ask("reset")).toEqual({ inner: 4 });
  expect(await ask("twice")).toEqual({ inner: 4 });
  expect(await ask("failed")).toEqual({ outer: 4, inner: 4 });
});

it("what is rolled back hides nothing of what was charged outside of the transaction", async () => {
  expect(await ask("rolledBack")).toEqual({ inner: 4 });
});

it("of one limit that several calls of a batch were charged with, the least that was left", async () => {
  expect(await ask("charged,charged?batch=1&input=%7B%7D")).toEqual({ inner: 3 });
});
