import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { EventSource } from "eventsource";
import { describe, expect, it } from "vitest";
import { isRateLimitError, MINUTE, type RateLimitSnapshot } from "../../server/index.js";
import { hosts } from "../support/hosts.js";
import { createLimitedTRPC } from "../support/limited-trpc.js";
import { soon } from "../support/soon.js";

function createApp() {
  const { limiter, t, rl } = createLimitedTRPC({
    send: { kind: "token bucket", rate: 2, period: MINUTE },
  });
  const router = t.router({
    rateLimit: rl.router,
    send: t.procedure.use(rl.rateLimited("send")).mutation(({ ctx }) => ctx.rateLimit.value),
  });
  return { router, limiter };
}

describe.each(Object.entries(hosts))("on the %s adapter", (_, start) => {
  it("answers a denied call with 429, the facts and the header fields", async () => {
    const { router } = createApp();
    await using host = await start(router);
    const post = () =>
      fetch(`${host.url}/send`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
    const granted = await post();
    expect(granted.status).toBe(200);
    expect(granted.headers.get("RateLimit-Policy")).toBe('"send";q=2;w=60');
    expect(granted.headers.get("RateLimit")).toBe('"send";r=1;t=30');
    await post();
    const denied = await post();
    expect(denied.status).toBe(429);
    expect(denied.headers.get("Retry-After")).toBe("30");
    expect(await denied.json()).toMatchObject({
      error: { data: { rateLimit: { kind: "RateLimited", name: "send" } } },
    });
  });

  it("streams changes to a tRPC client, and a denial in a mixed batch is recognised", async () => {
    const { router, limiter } = createApp();
    await using host = await start(router);
    const client = createTRPCClient<typeof router>({
      links: [
        splitLink({
          condition: ({ type }) => type === "subscription",
          true: httpSubscriptionLink({ url: host.url, EventSource }),
          false: httpBatchLink({ url: host.url }),
        }),
      ],
    });
    const seen: RateLimitSnapshot[] = [];
    const stream = client.rateLimit.watch.subscribe(
      { items: [{ name: "send" }] },
      { onData: (snapshot) => seen.push(snapshot) },
    );
    await soon(() => expect(seen).toHaveLength(1));
    await limiter.limit("send");
    await soon(() => expect(seen.at(-1)).toMatchObject({ name: "send", value: 1 }));
    const [one, two] = await Promise.allSettled([client.send.mutate(), client.send.mutate()]);
    expect(one).toMatchObject({ status: "fulfilled" });
    expect(two.status === "rejected" && isRateLimitError(two.reason)).toBe(true);
    stream.unsubscribe();
  });
});
