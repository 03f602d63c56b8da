/** The short version of a part of the example: its component on its procedure, with its limit. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import {
  createTRPCClient,
  httpBatchStreamLink,
  httpSubscriptionLink,
  splitLink,
} from "@trpc/client";
import { type AnyTRPCProcedure, initTRPC } from "@trpc/server";
import { EventSource } from "eventsource";
import type { ReactNode } from "react";
import { onTestFinished } from "vitest";
import { createRateLimiter, type LimitConfigs, memoryStore } from "trpc-rate-limit/server";
import { createRateLimitTRPC, formatRateLimitError, SHARED_BUCKET } from "trpc-rate-limit/trpc";
import { requestedLogInKey } from "../../example-app/log-in/limits.js";
import { PLANS } from "../../example-app/model/limits.js";
import { RateLimitProvider, TRPCProvider } from "../../example-app/shared/page/trpc.js";
import { LIMITS } from "../../example-app/shared/server/limiter.js";
import type { AppRouter } from "../../example-app/shared/server/router.js";
import type { App, Context } from "../../example-app/shared/server/trpc.js";
import { startServer } from "./http.js";

/**
 * @param part the name of the part's router.
 * @param limits the part's own limits; all others are those of the example.
 * @param prisma the members of the client that the procedures use. The rows of the limits are in memory.
 * @param procedures the part's procedures, made from the parts of the example's own.
 */
export async function mountMinimal({
  part,
  limits = {},
  prisma = {},
  procedures,
  component,
}: {
  part: string;
  limits?: object;
  prisma?: object;
  procedures: (app: App) => Record<string, AnyTRPCProcedure>;
  component: ReactNode;
}) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { ...LIMITS, ...limits } as LimitConfigs,
    plans: PLANS,
    plan: () => "free" as const,
  });
  const t = initTRPC.context<Context>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({
    t,
    limiter,
    interval: 50,
    key({ ctx, name, requested }) {
      if (name === "signUp") return SHARED_BUCKET;
      return name === "logIn" ? requestedLogInKey(requested, ctx.visitor) : ctx.visitor;
    },
  });
  const app = { t, rl, limiter, prisma } as unknown as App;
  const router = t.router({ rateLimit: rl.router, [part]: t.router(procedures(app)) });
  const server = await startServer(router, () => ({ visitor: "ann", process: 1 }));
  const { url } = server;
  const client = createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: ({ type }) => type === "subscription",
        true: httpSubscriptionLink({ url, EventSource }),
        false: httpBatchStreamLink({ url }),
      }),
    ],
  });
  const queryClient = new QueryClient();
  const { unmount } = render(
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={client} queryClient={queryClient}>
        <RateLimitProvider client={client}>{component}</RateLimitProvider>
      </TRPCProvider>
    </QueryClientProvider>,
  );
  onTestFinished(async () => {
    unmount();
    queryClient.clear();
    await server[Symbol.asyncDispose]();
  });
  return { limiter };
}
