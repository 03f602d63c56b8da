import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { createTRPCClient, httpBatchStreamLink } from "@trpc/client";
import { type Item, parseList } from "structured-headers";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createManualClock } from "../../../core/testing.js";
import { MINUTE, SECOND } from "../../../server/index.js";
import { rateLimitResponseMeta } from "../../../server/trpc/index.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";
import { listen } from "../../support/serve-fetch.js";

const strange = 'né "5"\\';

async function startApp() {
  // In the middle of a window.
  const clock = createManualClock(100 * MINUTE + 30_000);
  const limits = {
    send: { kind: "token bucket", rate: 2, period: 3 * SECOND },
    quota: { kind: "fixed window", rate: 5, period: MINUTE, start: 0 },
    quick: { kind: "token bucket", rate: 3, period: 500 },
    [strange]: { kind: "token bucket", rate: 1.5, period: SECOND, capacity: 2 },
  } as const;
  const { limiter, t, rl } = createLimitedTRPC(limits, { clock });
  const router = t.router({
    send: t.procedure.use(rl.rateLimited("send")).mutation(() => true),
    quota: t.procedure.use(rl.rateLimited("quota")).query(() => true),
    both: t.procedure.use(rl.rateLimited(["quota", "quick"])).query(() => true),
    strange: t.procedure.use(rl.rateLimited(strange)).query(() => true),
    inside: t.procedure.query(() => limiter.limit("send", { count: 2, throws: true })),
    free: t.procedure.query(() => true),
    // Other middleware replaces the context before the charge.
    deeper: t.procedure
      .use(({ next }) => next({ ctx: { more: 1 } }))
      .use(rl.rateLimited("quota"))
      .input(z.string().optional())
      .query(() => true),
    failing: t.procedure.use(rl.rateLimited("send", { on: "error" })).query(() => true),
    rolledBack: t.procedure
      .use(rl.rateLimited("quick"))
      .use(rl.rateLimited.transaction("send"))
      .query(() => {
        throw new Error("too bad");
      }),
    ticks: t.procedure.subscription(async function* () {
      yield 1;
    }),
  });
  const responseMeta = rateLimitResponseMeta;
  const host = await listen(createHTTPServer({ router, responseMeta }));
  const { url } = host;
  return {
    ...host,
    clock,
    limiter,
    stream: createTRPCClient<typeof router>({ links: [httpBatchStreamLink({ url })] }),
    query: (path: string) => fetch(`${url}/${path}`),
    mutate: (path: string) =>
      fetch(`${url}/${path}`, { method: "POST", headers: { "content-type": "application/json" } }),
  };
}

/** The fields, parsed by the grammar of RFC 9651. */
function fieldsOf({ headers }: Response) {
  const parse = (name: string) => {
    const field = headers.get(name);
    if (field === null) return null;
    return Object.fromEntries(
      (parseList(field) as Item[]).map(([policy, parameters]) => [
        policy,
        Object.fromEntries(parameters),
      ]),
    );
  };
  return {
    retryAfter: headers.get("Retry-After"),
    policy: parse("RateLimit-Policy"),
    state: parse("RateLimit"),
  };
}

describe("rateLimitResponseMeta", () => {
  let app: Awaited<ReturnType<typeof startApp>>;
  beforeEach(async () => {
    app = await startApp();
    return () => app[Symbol.asyncDispose]();
  });

  it("gives the tokens left of a token bucket, and then the wait, rounded up", async () => {
    const policy = { send: { q: 2, w: 3 } };
    expect(fieldsOf(await app.mutate("send"))).toEqual({
      retryAfter: null,
      policy,
      state: { send: { r: 1, t: 2 } },
    });
    await app.mutate("send");
    app.clock.advance(1);
    const denied = await app.mutate("send");
    expect(denied.status).toBe(429);
    expect(fieldsOf(denied)).toEqual({
      retryAfter: "2",
      policy,
      state: { send: { r: 0, t: 2 } },
    });
    app.clock.advance(2000);
    expect((await app.mutate("send")).status).toBe(200);
  });

  it("counts down to the end of a fixed window", async () => {
    expect(fieldsOf(await app.query("quota"))).toEqual({
      retryAfter: null,
      policy: { quota: { q: 5, w: 60 } },
      state: { quota: { r: 4, t: 30 } },
    });
  });

  it("lists every limit of a procedure, with windows of whole seconds", async () => {
    expect(fieldsOf(await app.query("both"))).toMatchObject({
      policy: { quota: { q: 5, w: 60 }, quick: { q: 6, w: 1 } },
      state: { quota: { r: 4, t: 30 }, quick: { r: 2, t: 1 } },
    });
  });

  it("finds the decisions if other middleware has replaced the context", async () => {
    expect(fieldsOf(await app.query("deeper")).state).toEqual({ quota: { r: 4, t: 30 } });
  });

  it("covers denials that the procedure itself throws", async () => {
    await app.query("inside");
    const denied = await app.query("inside");
    expect(denied.status).toBe(429);
    expect(fieldsOf(denied)).toMatchObject({
      retryAfter: "3",
      state: { send: { r: 0, t: 3 } },
    });
  });

  it("gives the longest wait of each limit in a batch", async () => {
    const batch = await fetch(`${app.url}/quota,inside,inside,free?batch=1&input=%7B%7D`);
    expect(batch.status).toBe(207);
    expect(fieldsOf(batch)).toEqual({
      retryAfter: "3",
      policy: { quota: { q: 5, w: 60 }, send: { q: 2, w: 3 } },
      state: { quota: { r: 4, t: 30 }, send: { r: 0, t: 3 } },
    });
  });

  it("encodes the names of limits in ASCII", async () => {
    expect(fieldsOf(await app.query("strange"))).toMatchObject({
      policy: { 'n%C3%A9 "5"\\': { q: 1, w: 1 } },
    });
  });

  it("adds nothing if nothing was charged in the end", async () => {
    const none = { retryAfter: null, policy: null, state: null };
    expect(fieldsOf(await app.query("free"))).toEqual(none);
    expect(fieldsOf(await app.query("failing"))).toEqual(none);
    expect(fieldsOf(await app.query("missing"))).toEqual(none);
  });

  it("leaves out charges that were rolled back, and keeps the others", async () => {
    const response = await app.query("rolledBack");
    expect(response.status).toBe(500);
    expect(Object.keys(fieldsOf(response).state!)).toEqual(["quick"]);
  });

  it("adds nothing to streams, which send their headers before their calls are decided", async () => {
    const { stream } = app;
    await expect(Promise.all([stream.quota.query(), stream.free.query()])).resolves.toEqual([
      true,
      true,
    ]);
    const streamed = await fetch(`${app.url}/quota,free?batch=1&input=%7B%7D`, {
      headers: { "trpc-accept": "application/jsonl" },
    });
    expect(fieldsOf(streamed)).toEqual({ retryAfter: null, policy: null, state: null });
    await streamed.text();
    const events = await fetch(`${app.url}/ticks`, { headers: { accept: "text/event-stream" } });
    expect(fieldsOf(events).state).toBeNull();
    await events.body?.cancel();
  });

  it("leaves out the limits of other requests", async () => {
    await Promise.all(Array.from({ length: 20 }, () => app.query("quota")));
    expect(fieldsOf(await app.query("free")).state).toBeNull();
  });
});
