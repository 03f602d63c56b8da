/** Client code without tRPC that must and must not compile. `tsc` checks it; it never runs. */
import { EventSource } from "eventsource";
import {
  createFetchTransport,
  createRateLimitObserver,
  rateLimitFetch,
  type RateLimitTransport,
  shareStream,
} from "trpc-rate-limit/fetch";
import { createRateLimitReact } from "trpc-rate-limit/fetch/react";
import { createRateLimiter, memoryStore, MINUTE } from "trpc-rate-limit/server";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};

export const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
    signUp: { kind: "fixed window", rate: 100, period: MINUTE, start: 0 },
  },
});
/** A handler that tells clients of some limits only. */
interface Handler {
  (request: Request): Promise<Response>;
  readonly limits: { readonly signUp: object };
}
type Names = "sendMessage" | "signUp";
const url = "/api/limits";

const observer = createRateLimitObserver<typeof limiter>({ url, live: "poll", EventSource });
observer.status({ name: "signUp", key: "ann" }, 1);
// @ts-expect-error a misspelt name
observer.status({ name: "signup" }, 1);
// For an unknown limiter, any name compiles.
createRateLimitObserver({ url }).status({ name: "any" }, 1);
createFetchTransport<typeof limiter>({ url }) satisfies RateLimitTransport<Names>;
const shared = shareStream(createFetchTransport<Handler>({ url }), { caller: "ann" });
createRateLimitObserver<Handler>({ transport: shared }).status({ name: "signUp" }, 1);
// @ts-expect-error a limit that the handler does not tell of
createRateLimitObserver<Handler>({ transport: shared }).status({ name: "sendMessage" }, 1);
// @ts-expect-error It needs a URL or a transport.
createRateLimitObserver({});
// @ts-expect-error either a URL or a transport
createRateLimitObserver({ url, transport: shared });
createFetchTransport({ url, headers: async () => ({ Authorization: "Bearer 1" }), EventSource });
// @ts-expect-error not a constructor
createFetchTransport({ url, EventSource: 1 });

rateLimitFetch<typeof limiter>(fetch, { url, limits: { "POST /api/messages": "sendMessage" } });
rateLimitFetch<typeof limiter>(fetch, {
  url,
  limits: ({ method, url: to }) =>
    method === "POST" && to.pathname === "/up" ? { name: "signUp", count: 2, on: "error" } : null,
  whenLimited: "wait",
});
// @ts-expect-error a misspelt name
rateLimitFetch<typeof limiter>(fetch, { url, limits: { "POST /api/messages": "sendMesage" } });
// @ts-expect-error It needs the URL of the limits.
rateLimitFetch(fetch, { limits: {} });

const hooks = createRateLimitReact<typeof limiter>({ url, credentials: "include" });
assert<Equal<Parameters<typeof hooks.useRateLimit>[0], Names>>();
assert<Equal<Parameters<typeof hooks.useRateLimitedMutation>[0], Names>>();
const ofHandler = createRateLimitReact<Handler>({ url, shareStream });
assert<Equal<Parameters<typeof ofHandler.useRateLimit>[0], "signUp">>();
createRateLimitReact({ url }).useRateLimit satisfies (name: string) => unknown;
// @ts-expect-error It needs a URL.
createRateLimitReact<typeof limiter>({});
// @ts-expect-error neither a limiter nor a handler
createRateLimitReact<{ status: number }>({ url });

const { RateLimitProvider, RateLimitMeter, useRateLimit, useRateLimitedMutation } = hooks;

export function Page() {
  const { status } = useRateLimit("sendMessage");
  const send = useRateLimitedMutation("sendMessage", {
    mutationFn: (text: string) => fetch("/api/messages", { method: "POST", body: text }),
    whenLimited: "wait",
  });
  if (send.isSuccess) assert<Equal<typeof send.data, Response>>();
  // @ts-expect-error a misspelt name
  useRateLimit("sendMesage");
  return (
    <RateLimitProvider live="poll" pollInterval={1000} caller="ann" locale="de">
      <RateLimitProvider observer={observer}>{status?.retryAt}</RateLimitProvider>
      {/* @ts-expect-error an observer has a mode of its own */}
      <RateLimitProvider observer={observer} live="poll" />
      {/* @ts-expect-error a client of something else */}
      <RateLimitProvider client={observer} />
      <RateLimitMeter name="signUp" label="Sign-ups left" />
      {/* @ts-expect-error a misspelt name */}
      <RateLimitMeter name="signup" label="Sign-ups left" />
    </RateLimitProvider>
  );
}
