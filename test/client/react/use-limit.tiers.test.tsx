// @vitest-environment jsdom
/** A page whose user changes plans. Its stream has the context of the plan before. */
import { focusManager, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { rateLimitLink } from "../../../client/index.js";
import { createRateLimitReact } from "../../../client/react/index.js";
import { textOf } from "../../support/page.js";
import { settled, soon } from "../../support/soon.js";
import { startTierServer, type TierServerOptions } from "../../support/tiers.js";

const WATCH = "rateLimit.watch";

type AppRouter = Awaited<ReturnType<typeof startTierServer>>["router"];
const { RateLimitProvider, useRateLimit } = createRateLimitReact<AppRouter>();

afterEach(() => {
  cleanup();
  focusManager.setFocused(undefined);
});

function Shown() {
  const { status, value, config, connection } = useRateLimit("send", { count: 2 });
  return <p data-testid="a">{[status?.ok, value, config?.rate, connection].join()}</p>;
}

/** Renders nothing of what changes, so that only the plan can make it render. */
function Config() {
  return <p data-testid="b">{useRateLimit("send").config?.rate}</p>;
}

async function startPage(options?: TierServerOptions) {
  const app = await startTierServer(options);
  const queryClient = new QueryClient();
  const client = app.server.connect({ links: [rateLimitLink()] });
  const { unmount } = render(
    <QueryClientProvider client={queryClient}>
      <RateLimitProvider client={client}>
        <Shown />
        <Config />
      </RateLimitProvider>
    </QueryClientProvider>,
  );
  await soon(() => expect(textOf("a")).toBe("true,3,3,live"));
  await settled(() => app.server.requests());
  return {
    ...app,
    client,
    queryClient,
    focus() {
      act(() => focusManager.setFocused(false));
      act(() => focusManager.setFocused(true));
    },
    async [Symbol.asyncDispose]() {
      unmount();
      await app[Symbol.asyncDispose]();
    },
  };
}

it("follows an upgrade when it has the focus again, and is live by the new plan", async () => {
  await using page = await startPage();
  const { limit } = page.as("ada").rateLimit;
  await limit.mutate({ name: "send", count: 2 });
  await soon(() => expect(textOf("a")).toBe("false,1,3,live"));
  page.plans.set("ada", "paid");
  page.focus();
  // Of a larger plan, as much is left as it has more.
  await soon(() => expect(textOf("a")).toBe("true,28,30,live"));
  expect(textOf("b")).toBe("30");
  await page.limiter.reset("send", { key: "ada", plan: "paid" });
  await soon(() => expect(textOf("a")).toBe("true,30,30,live"));
  await limit.mutate({ name: "send", count: 5 });
  await soon(() => expect(textOf("a")).toBe("true,25,30,live"));
  await settled(() => page.server.requests());
  expect([page.server.requests(WATCH), page.server.open(WATCH)]).toEqual([2, 1]);
});

it("follows an upgrade at once that the limiter's own plan function says, without the focus", async () => {
  await using page = await startPage({ plan: "limiter" });
  const { limit } = page.as("ada").rateLimit;
  await limit.mutate({ name: "send", count: 3 });
  await soon(() => expect(textOf("a")).toBe("false,0,3,live"));
  page.plans.set("ada", "paid");
  // A late call by the old plan takes nothing away.
  const late = await page.limiter.limit("send", { key: "ada", plan: "free" });
  expect(late.ok).toBe(false);
  page.limiter.planChanged("ada");
  await soon(() => expect(textOf("a")).toBe("true,27,30,live"));
  expect(textOf("b")).toBe("30");
  await page.client.send.mutate();
  await soon(() => expect(textOf("a")).toBe("true,26,30,live"));
});

it("follows a downgrade when the application refetches the queries of limits", async () => {
  await using page = await startPage();
  page.plans.set("ada", "paid");
  const refetch = () =>
    act(() => page.queryClient.refetchQueries({ queryKey: [["rateLimit", "status"]] }));
  await refetch();
  await soon(() => expect(textOf("a")).toBe("true,30,30,live"));
  await soon(() => expect(page.server.requests(WATCH)).toBe(2));
  await settled(() => page.server.open(WATCH));
  page.plans.set("ada", "free");
  await refetch();
  await soon(() => expect(textOf("a")).toBe("true,3,3,live"));
  await soon(() => expect(page.server.requests(WATCH)).toBe(3));
  await settled(() => page.server.open(WATCH));
  await page.as("ada").send.mutate();
  await soon(() => expect(textOf("a")).toBe("true,2,3,live"));
  expect([page.server.requests(WATCH), page.server.open(WATCH)]).toEqual([3, 1]);
});

it("follows a change of plan that a denial tells of", async () => {
  await using page = await startPage();
  page.plans.set("ada", "paid");
  page.focus();
  await soon(() => expect(textOf("a")).toBe("true,30,30,live"));
  await soon(() => expect(page.server.requests(WATCH)).toBe(2));
  await settled(() => page.server.open(WATCH));
  page.plans.set("ada", "free");
  await page.limiter.limit("send", { key: "ada", plan: "free", count: 3 });
  // The stream still reports by the old plan.
  await soon(() => expect(textOf("a")).toBe("true,27,30,live"));
  await expect(page.client.send.mutate()).rejects.toThrow("exceeded");
  await soon(() => expect(textOf("a")).toBe("false,0,3,live"));
  expect(textOf("b")).toBe("3");
  await soon(() => expect(page.server.requests(WATCH)).toBe(3));
  await settled(() => page.server.open(WATCH));
  expect(page.server.open(WATCH)).toBe(1);
});
