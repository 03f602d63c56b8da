/** A component of the example on a router, for one of its visitors. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import { createTRPCClient, httpLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { EventSource } from "eventsource";
import type { ReactNode } from "react";
import { onTestFinished } from "vitest";
import { RateLimitProvider } from "../../example-app/shared/page/trpc.js";
import type { AppRouter } from "../../example-app/shared/server/router.js";
import { startServer } from "./http.js";

export async function mountExample(
  router: AnyTRPCRouter,
  visitor: string,
  component: (url: string) => ReactNode,
): Promise<void> {
  const server = await startServer(router, () => ({ visitor, process: 1 }));
  const { url } = server;
  const client = createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: ({ type }) => type === "subscription",
        true: httpSubscriptionLink({ url, EventSource }),
        false: httpLink({ url }),
      }),
    ],
  });
  const { unmount } = render(
    <QueryClientProvider client={new QueryClient()}>
      <RateLimitProvider client={client}>{component(url)}</RateLimitProvider>
    </QueryClientProvider>,
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  onTestFinished(unmount);
}
