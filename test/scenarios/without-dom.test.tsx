// @vitest-environment edge-runtime
/** The client without a document and an EventSource, as on React Native. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createTRPCClient,
  httpBatchLink,
  httpSubscriptionLink,
  splitLink,
  type TRPCClient,
} from "@trpc/client";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { renderToString } from "react-dom/server.edge";
import { expect, it } from "vitest";
import { createRateLimitObserver, createTRPCTransport, rateLimitLink } from "../../client/index.js";
import { announce } from "../../client/countdown/announce.js";
import { createRateLimitReact } from "../../client/react/index.js";
import { HOUR } from "../../server/index.js";
import { createLimitedTRPC } from "../support/limited-trpc.js";
import { soon } from "../support/soon.js";

function createApp() {
  const { t, rl } = createLimitedTRPC({
    send: { kind: "token bucket", rate: 1, period: HOUR, capacity: 2 },
  });
  return t.router({
    rateLimit: rl.router,
    send: t.procedure.use(rl.rateLimited("send")).mutation(() => true),
  });
}

function connect(): TRPCClient<ReturnType<typeof createApp>> {
  const router = createApp();
  const url = "https://example.com/api";
  const serve = (input: RequestInfo | URL | string, init?: object) =>
    fetchRequestHandler({ endpoint: "/api", req: new Request(input, init), router });
  return createTRPCClient<typeof router>({
    links: [
      rateLimitLink<typeof router>({ limits: { send: "send" }, whenLimited: "reject" }),
      splitLink({
        condition: ({ type }) => type === "subscription",
        true: httpSubscriptionLink({ url }),
        false: httpBatchLink({ url, fetch: serve }),
      }),
    ],
  });
}

const { RateLimitProvider, useRateLimit, RateLimitCountdown, RateLimitMeter } =
  createRateLimitReact<ReturnType<typeof createApp>>();

it("runs where these globals are missing", () => {
  // `window` is there, as on React Native, where it is the global object.
  expect([typeof document, typeof EventSource]).toEqual(["undefined", "undefined"]);
});

it("polls, counts down with the link, and rejects what is known to be denied", async () => {
  const client = connect();
  const observer = createRateLimitObserver({
    transport: createTRPCTransport(client, "rateLimit"),
    pollInterval: 50,
  });
  const item = { name: "send" } as const;
  observer.observe(item, 1, () => {});
  await soon(() => expect(observer.remaining(item)).toBe(2));
  await soon(() => expect(observer.connection).toBe("polling"));
  await client.send.mutate();
  await client.send.mutate();
  await soon(() => expect(observer.remaining(item)).toBe(0));
  await expect(client.send.mutate()).rejects.toMatchObject({ data: { httpStatus: 429 } });
  observer.close();
});

it("renders the provider, and announces nothing", () => {
  const retryAt = Date.now() + HOUR;
  function Page() {
    const { status } = useRateLimit("send");
    return (
      <p>
        {status === undefined && <span>unknown</span>}
        <RateLimitCountdown retryAt={retryAt} />
        <RateLimitMeter name="send" label="left" />
      </p>
    );
  }
  const html = renderToString(
    <QueryClientProvider client={new QueryClient()}>
      <RateLimitProvider client={connect()} live="off">
        <Page />
      </RateLimitProvider>
    </QueryClientProvider>,
  );
  expect(html).toContain("unknown");
  // The provider and the countdown call it once they are mounted.
  announce();
  announce("Wait 5 seconds");
});
