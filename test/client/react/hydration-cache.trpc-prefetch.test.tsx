// @vitest-environment jsdom
/** A limit that the server prefetched with tRPC's own query options, superjson included. */
import {
  dehydrate,
  type DehydratedState,
  HydrationBoundary,
  QueryClient,
  QueryClientProvider,
} from "@tanstack/react-query";
import { cleanup } from "@testing-library/react";
import {
  createTRPCClient,
  httpBatchLink,
  httpSubscriptionLink,
  splitLink,
  type TRPCClient,
} from "@trpc/client";
import { initTRPC } from "@trpc/server";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { EventSource } from "eventsource";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import superjson from "superjson";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRateLimitReact, type LiveMode } from "../../../client/react/index.js";
import { createRateLimiter, HOUR, memoryStore, MINUTE } from "../../../server/index.js";
import { createRateLimitTRPC, SHARED_BUCKET } from "../../../server/trpc/index.js";
import { startServer } from "../../support/http.js";
import { settled, soon } from "../../support/soon.js";

const [STATUS, WATCH] = ["rateLimit.status", "rateLimit.watch"];
const NOON = Date.UTC(2030, 0, 1, 12);

let complaints = vi.spyOn(console, "error");
const hiccups = vi.fn();

beforeEach(() => {
  hiccups.mockReset();
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

async function startApp() {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { hourly: { kind: "fixed window", rate: 3, period: HOUR, start: 0 } },
  });
  const t = initTRPC.create({ transformer: superjson });
  const { router: rateLimit } = createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter });
  const router = t.router({ rateLimit });
  const server = await startServer(router, () => ({}));
  const { url } = server;
  const client = createTRPCClient<typeof router>({
    links: [
      splitLink({
        condition: ({ type }) => type === "subscription",
        true: httpSubscriptionLink({ url, transformer: superjson, EventSource }),
        false: httpBatchLink({ url, transformer: superjson }),
      }),
    ],
  });
  return { limiter, router, server, client };
}

type AppRouter = Awaited<ReturnType<typeof startApp>>["router"];
const { RateLimitProvider, useRateLimit, RateLimitCountdown } = createRateLimitReact<AppRouter>();

function Page() {
  const { status, value } = useRateLimit("hourly");
  return (
    <p>
      {value} left, <RateLimitCountdown retryAt={status?.retryAt} />
    </p>
  );
}

interface AroundProps {
  client: TRPCClient<AppRouter>;
  queryClient: QueryClient;
  state: DehydratedState;
  live: LiveMode;
}

const around = ({ client, queryClient, state, live }: AroundProps) => (
  <QueryClientProvider client={queryClient}>
    <RateLimitProvider client={client} live={live}>
      <HydrationBoundary state={state}>
        <Page />
      </HydrationBoundary>
    </RateLimitProvider>
  </QueryClientProvider>
);

const serializing = () =>
  new QueryClient({
    defaultOptions: {
      dehydrate: { serializeData: superjson.serialize },
      hydrate: { deserializeData: superjson.deserialize },
    },
  });

/** Prefetches and renders like a server, and puts the HTML on the page. */
async function serve(client: TRPCClient<AppRouter>, live: LiveMode) {
  const queryClient = serializing();
  const trpc = createTRPCOptionsProxy<AppRouter>({ client, queryClient });
  await queryClient.prefetchQuery(trpc.rateLimit.status.queryOptions({ name: "hourly" }));
  const state = JSON.parse(JSON.stringify(dehydrate(queryClient))) as DehydratedState;
  queryClient.clear();
  const container = document.createElement("div");
  document.body.append(container);
  container.innerHTML = renderToString(around({ client, queryClient: serializing(), state, live }));
  return { container, state };
}

/** Sets the clock of the server and the browser. It runs on from there. */
function setDate(now: number): void {
  vi.restoreAllMocks();
  complaints = vi.spyOn(console, "error").mockReturnValue();
  const ahead = now - Date.now();
  const real = Date.now.bind(Date);
  vi.spyOn(Date, "now").mockImplementation(() => real() + ahead);
}

describe.each(["stream", "poll", "off"] as const)('live: "%s"', (live) => {
  it("renders the seconds left on the server, hydrates to the same, and asks no second time", async () => {
    setDate(NOON + HOUR - 125_000);
    const { limiter, server, client } = await startApp();
    await limiter.limit("hourly", { count: 3 });
    const { container, state } = await serve(client, live);
    const rendered = container.textContent;
    expect(rendered).toMatch(/^0 left, 2m \ds$/);
    expect(server.requests(STATUS)).toBe(1);

    // The browser hydrates some time later.
    setDate(NOON + HOUR - 119_000);
    const queryClient = serializing();
    const root = hydrateRoot(container, around({ client, queryClient, state, live }), {
      onRecoverableError: hiccups,
    });
    try {
      expect(container.textContent).toBe(rendered);
      await soon(() => expect(container.textContent).toMatch(/^0 left, 1m \d+s$/));
      await settled(() => server.requests());
      expect(hiccups).not.toHaveBeenCalled();
      expect(complaints).not.toHaveBeenCalled();
      expect(server.requests(STATUS)).toBe(1);
      expect(server.requests(WATCH)).toBe(live === "stream" ? 1 : 0);
    } finally {
      root.unmount();
      await server[Symbol.asyncDispose]();
    }
  });
});

it("asks at once where the page is older than ten seconds", async () => {
  setDate(NOON);
  const { limiter, server, client } = await startApp();
  const { container, state } = await serve(client, "off");
  await limiter.limit("hourly");
  setDate(NOON + MINUTE);
  const queryClient = serializing();
  const root = hydrateRoot(container, around({ client, queryClient, state, live: "off" }), {
    onRecoverableError: hiccups,
  });
  try {
    await soon(() => expect(container.textContent).toContain("2 left"));
    expect(server.requests(STATUS)).toBe(2);
    expect(hiccups).not.toHaveBeenCalled();
  } finally {
    root.unmount();
    await server[Symbol.asyncDispose]();
  }
});

it("shares its entries with tRPC's own status queries", async () => {
  const { limiter, server, client } = await startApp();
  const queryClient = serializing();
  const trpc = createTRPCOptionsProxy<AppRouter>({ client, queryClient });
  const { container, state } = await serve(client, "off");
  const root = hydrateRoot(container, around({ client, queryClient, state, live: "off" }));
  try {
    // The server's HTML shows it before React does.
    await settled(() => server.requests());
    expect(container.textContent).toContain("3 left");
    await limiter.limit("hourly");
    await queryClient.refetchQueries(trpc.rateLimit.status.queryFilter({ name: "hourly" }));
    await soon(() => expect(container.textContent).toContain("2 left"));
  } finally {
    root.unmount();
    await server[Symbol.asyncDispose]();
  }
});
