/** A limiter in memory behind a real server, and observers that connect to it over HTTP. */
import type { TRPCClient } from "@trpc/client";
import { initTRPC, TRPCError } from "@trpc/server";
import { expect } from "vitest";
import { z } from "zod";
import {
  createRateLimitObserver,
  createTRPCTransport,
  type RateLimitItem,
  type RateLimitObserver,
  type RateLimitObserverOptions,
} from "../../client/index.js";
import {
  createRateLimiter,
  type LimitConfigs,
  memoryStore,
  type RateLimiter,
} from "../../server/index.js";
import {
  createRateLimitTRPC,
  formatRateLimitError,
  SHARED_BUCKET,
} from "../../server/trpc/index.js";
import { startServer } from "./http.js";
import { soon } from "./soon.js";

export interface LimitServerOptions {
  /** The server's time. @default Date.now */
  clock?: () => number;
  /** How often the server polls for changes, ms. @default 100 */
  interval?: number;
  /** The most streams of one caller. @default 10 */
  maxStreams?: number;
  /** Whether the limits may be overridden. @default false */
  overrides?: boolean;
}

type ObserverOptions = Omit<RateLimitObserverOptions, "transport"> & { stream?: boolean };

export async function startLimitServer<const TLimits extends LimitConfigs>(
  limits: TLimits,
  { clock, interval = 100, maxStreams, overrides }: LimitServerOptions = {},
) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits,
    overrides,
    ...(clock && { clock }),
  });
  const untyped = limiter as unknown as RateLimiter;
  const t = initTRPC.create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({
    t,
    limiter,
    interval,
    ...(maxStreams !== undefined && { maxStreams }),
    // Every caller may read every key except `secret`.
    key: ({ requested }) => (requested === "secret" ? null : (requested ?? SHARED_BUCKET)),
  });
  const router = t.router({
    rateLimit: rl.router,
    /** Takes tokens from any limit, as a procedure of an application does. Then throws if `fails`. */
    take: t.procedure
      .input(
        z.object({
          name: z.enum(Object.keys(limits) as [string, ...string[]]),
          count: z.number().default(1),
          fails: z.boolean().default(false),
        }),
      )
      .mutation(async ({ input: { name, count, fails } }) => {
        const result = await untyped.limit(name, { count, throws: true });
        if (fails) throw new TRPCError({ code: "CONFLICT", message: "not about limits" });
        return result;
      }),
    /** Takes a token from several limits, or from none. */
    takeAll: t.procedure
      .input(z.array(z.enum(Object.keys(limits) as [string, ...string[]])))
      .mutation(({ input }) =>
        untyped.limitAll(
          input.map((name) => ({ name })),
          { throws: true },
        ),
      ),
  });
  const server = await startServer(router, () => ({}));
  const observers: RateLimitObserver[] = [];

  function observe(
    client: TRPCClient<typeof router>,
    options: Omit<RateLimitObserverOptions, "transport"> = {},
  ): RateLimitObserver {
    const transport = createTRPCTransport(client, "rateLimit");
    const observer = createRateLimitObserver({ transport, ...options });
    observers.push(observer);
    return observer;
  }

  const observeOverHttp = ({ stream = true, ...rest }: ObserverOptions = {}) =>
    observe(server.connect({ stream }), rest);

  return {
    limiter,
    router,
    server,
    /**
     * An observer over HTTP. The observer is closed with the server. For `stream`, see
     * `TestServer.connect`.
     */
    observer: observeOverHttp,
    /** An observer over HTTP that follows calls for `count` tokens of one limit, and is live. */
    async live(item: RateLimitItem, options?: ObserverOptions, count = 1) {
      const following = observeOverHttp(options);
      following.observe(item, count, () => {});
      await soon(() => expect(following.connection).toBe("live"));
      return following;
    },
    /** An observer that uses this client. The observer is closed with the server. */
    observe,
    async [Symbol.asyncDispose]() {
      for (const observer of observers) observer.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
