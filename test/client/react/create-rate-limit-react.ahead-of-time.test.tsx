/**
 * Pages that a server renders ahead of time. Next refuses to build a page whose components read a clock
 * or a random number.
 */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpLink } from "@trpc/client";
import { renderToString } from "react-dom/server";
import { afterEach, expect, it, vi } from "vitest";
import { createRateLimitReact } from "../../../client/react/index.js";
import type { AppRouter } from "../../support/page.js";

const hooks = createRateLimitReact<AppRouter>();

function Page() {
  const { status } = hooks.useRateLimit("sendMessage");
  const mutation = hooks.useRateLimitedMutation("hourly", { mutationFn: async () => "sent" });
  return (
    <p>
      {status?.ok ?? "unknown"} {String(mutation.canMutate)}{" "}
      <hooks.RateLimitCountdown retryAt={undefined} />
      <hooks.RateLimitMeter name="quick" label="Messages" />
    </p>
  );
}

afterEach(() => {
  vi.restoreAllMocks();
});

it("renders a page ahead of time without a clock or a random number", async () => {
  const queryClient = new QueryClient();
  const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: "http://127.0.0.1:1" })] });
  const refuse = (what: string) => () => {
    throw new Error(`${what} was read`);
  };
  vi.spyOn(Date, "now").mockImplementation(refuse("Date.now()"));
  vi.spyOn(Math, "random").mockImplementation(refuse("Math.random()"));
  const html = renderToString(
    <QueryClientProvider client={queryClient}>
      <hooks.RateLimitProvider client={client}>
        <Page />
      </hooks.RateLimitProvider>
    </QueryClientProvider>,
  );
  expect(html).toContain("unknown");
});
