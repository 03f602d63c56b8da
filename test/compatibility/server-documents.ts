/**
 * The documents that a server of today sends, as JSON: answers and errors of tRPC with their header
 * fields, and responses without tRPC. One document per situation, made by a real server on a clock that
 * stands still.
 */
import { initTRPC } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { type Item, parseList } from "structured-headers";
import { createManualClock } from "../../core/testing.js";
import {
  createRateLimiter,
  HOUR,
  memoryStore,
  MINUTE,
  rateLimitHeaders,
  rateLimitResponse,
  RateLimitInputError,
  RateLimitStoreError,
} from "../../server/index.js";
import {
  createRateLimitTRPC,
  formatRateLimitError,
  rateLimitResponseMeta,
} from "../../server/trpc/index.js";
import { NOW } from "./histories.js";

const limits = {
  send: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  hourly: { kind: "fixed window", rate: 5, period: HOUR },
  monthly: { kind: "fixed window", rate: 100, period: "month", start: 0 },
  spread: { kind: "token bucket", rate: 40, period: MINUTE, shards: 4 },
  model: { kind: "token bucket", rate: 60, period: MINUTE, maxReserved: 90 },
  trial: { kind: "token bucket", rate: 1, period: HOUR, shadow: true },
} as const;

/** A server with these limits, and what asks it. */
export function startServer() {
  const clock = createManualClock(NOW);
  const limiter = createRateLimiter({ store: memoryStore(), limits, clock, random: () => 0.4 });
  const t = initTRPC.create({
    // Without traces, which have paths of this machine.
    isDev: false,
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({
    t,
    limiter,
    authorize: () => true,
    key: ({ requested }) => (requested === "another visitor" ? null : (requested ?? "ada")),
  });
  const outage = new RateLimitStoreError("the database is down");
  const router = t.router({
    rateLimit: rl.router,
    send: t.procedure.use(rl.rateLimited("send")).mutation(() => "sent"),
    both: t.procedure.use(rl.rateLimited(["send", "hourly"])).mutation(() => "sent"),
    whole: t.procedure
      .use(rl.rateLimited("send", { count: () => 1000 }))
      .mutation(() => "never granted"),
    down: t.procedure.mutation(() => {
      throw outage;
    }),
  });

  /** Resolves with the response of a procedure over HTTP. */
  async function ask(path: string, input?: unknown, method = "GET") {
    const text = JSON.stringify(input);
    const query = method === "GET" && text ? `?input=${encodeURIComponent(text)}` : "";
    const response = await fetchRequestHandler({
      endpoint: "/trpc",
      req: new Request(`http://localhost/trpc/${path}${query}`, {
        method,
        headers: { "content-type": "application/json" },
        ...(method === "POST" && { body: text ?? null }),
      }),
      router,
      responseMeta: rateLimitResponseMeta,
    });
    return documentOf(response);
  }

  /** Resolves with the first message of the stream. */
  async function watch(items: { name: keyof typeof limits; key?: string }[]) {
    const stream = await router.createCaller({}).rateLimit.watch({ items });
    for await (const snapshot of stream) return plain(snapshot);
  }
  return { limiter, router, ask, watch, clock };
}

const exhaust = (server: ReturnType<typeof startServer>, name: keyof typeof limits) =>
  server.limiter.limit(name, { key: "ada", count: limits[name].rate > 5 ? 3 : 1 });

/** The situations, by what the server sends. */
export const documents: Record<string, () => Promise<unknown>> = {
  async "status of a token bucket"() {
    const server = startServer();
    await exhaust(server, "send");
    return server.ask("rateLimit.status", { name: "send" });
  },
  "status for a key": () =>
    startServer().ask("rateLimit.status", { name: "send", key: "a requested key" }),
  "status of a fixed window": () => startServer().ask("rateLimit.status", { name: "hourly" }),
  "status of months": () => startServer().ask("rateLimit.status", { name: "monthly" }),
  async "status of shards"() {
    const server = startServer();
    await exhaust(server, "spread");
    return server.ask("rateLimit.status", { name: "spread" });
  },
  async "status of a debt"() {
    const server = startServer();
    await server.limiter.charge("model", { key: "ada", count: 70 });
    return server.ask("rateLimit.status", { name: "model" });
  },
  "a message of watch": () => startServer().watch([{ name: "send", key: "a requested key" }]),
  "check, granted": () => startServer().ask("rateLimit.check", { name: "send" }),
  async "check, denied"() {
    const server = startServer();
    await exhaust(server, "send");
    return server.ask("rateLimit.check", { name: "send", count: 2 });
  },
  async "check of a shadow"() {
    const server = startServer();
    await exhaust(server, "trial");
    return server.ask("rateLimit.check", { name: "trial" });
  },
  "limit, granted": () => startServer().ask("rateLimit.limit", { name: "send" }, "POST"),
  async "limit, reserved"() {
    const server = startServer();
    await server.limiter.limit("model", { key: "ada", count: 60 });
    return server.ask("rateLimit.limit", { name: "model", reserve: true }, "POST");
  },
  reset: () => startServer().ask("rateLimit.reset", { name: "send" }, "POST"),
  "a granted call": () => startServer().ask("send", undefined, "POST"),
  async "a denied call"() {
    const server = startServer();
    await exhaust(server, "send");
    return server.ask("send", undefined, "POST");
  },
  async "a call that two limits denied"() {
    const server = startServer();
    await server.limiter.limit("send", { key: "ada", count: 3 });
    await server.limiter.limit("hourly", { key: "ada", count: 5 });
    return server.ask("both", undefined, "POST");
  },
  "a key that the caller may not read": () =>
    startServer().ask("rateLimit.status", { name: "send", key: "another visitor" }),
  "a count that no wait could satisfy": () => startServer().ask("whole", undefined, "POST"),
  "an outage": () => startServer().ask("down", undefined, "POST"),
  async "a response to a denied result"() {
    const { limiter } = startServer();
    const result = await limiter.limit("hourly", { key: "ada", count: 5 });
    const denied = await limiter.limit("hourly", { key: "ada" });
    const granted = rateLimitHeaders(result, { limiter, name: "hourly", key: "ada" });
    const response = rateLimitResponse(denied, { limiter, name: "hourly", key: "ada" });
    return { granted: fieldsOf(new Headers(granted)), denied: await documentOf(response) };
  },
  async "a response to an error of several limits"() {
    const { limiter } = startServer();
    await limiter.limit("hourly", { key: "ada", count: 5 });
    await limiter.limit("send", { key: "ada", count: 3 });
    const items = (["send", "hourly"] as const).map((name) => ({ name, key: "ada" }));
    const error: unknown = await limiter.limitAll(items, { throws: true }).catch((e: unknown) => e);
    return documentOf(rateLimitResponse(error));
  },
  "a response to an outage": () =>
    documentOf(rateLimitResponse(new RateLimitStoreError("the database is down"))),
  "a response to a wrong key": () =>
    documentOf(rateLimitResponse(new RateLimitInputError("key", "the key is empty"))),
  "a response to a count that no wait could satisfy": () =>
    documentOf(rateLimitResponse(new RateLimitInputError("unsatisfiable", "too many"))),
};

async function documentOf(response: Response) {
  const text = await response.text();
  const body: unknown = text === "" ? null : JSON.parse(text);
  return { status: response.status, headers: fieldsOf(response.headers), body };
}

/** The header fields of the package, the lists of RFC 9651 as objects. */
function fieldsOf(headers: Headers) {
  const fields: Record<string, unknown> = {};
  for (const name of ["RateLimit-Policy", "RateLimit"]) {
    const field = headers.get(name);
    if (field === null) continue;
    const entries = (parseList(field) as Item[]).map(([limit, parameters]) => {
      return [limit as string, Object.fromEntries(parameters)];
    });
    fields[name] = Object.fromEntries(entries);
  }
  const wait = headers.get("Retry-After");
  if (wait !== null) fields["Retry-After"] = Number(wait);
  const type = headers.get("Content-Type");
  if (type !== null) fields["Content-Type"] = type;
  return fields;
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
