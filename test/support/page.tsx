/** A page in jsdom whose hooks observe the limits of a real server. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, type RenderOptions, type RenderResult } from "@testing-library/react";
import type { TRPCLink } from "@trpc/client";
import { type ReactNode, StrictMode } from "react";
import { createRateLimitReact, type LiveMode } from "../../client/react/index.js";
import { HOUR, SECOND } from "../../server/index.js";
import { type LimitServerOptions, startLimitServer } from "./limit-server.js";

const LIMITS = {
  sendMessage: { kind: "token bucket", rate: 1, period: 2500, capacity: 3 },
  hourly: { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 },
  /** Refills one token every 100 ms. */
  quick: { kind: "token bucket", rate: 10, period: SECOND, capacity: 10 },
  /** `fractional` holds at most two whole tokens, and `tiny` holds none. */
  fractional: { kind: "token bucket", rate: 1, period: HOUR, capacity: 2.5 },
  tiny: { kind: "token bucket", rate: 0.5, period: HOUR },
} as const;

function startLimits(options: LimitServerOptions) {
  return startLimitServer(LIMITS, options);
}

export type AppRouter = Awaited<ReturnType<typeof startLimits>>["router"];
export const {
  RateLimitProvider,
  useRateLimit,
  useRateLimitedMutation,
  RateLimitCountdown,
  RateLimitMeter,
} = createRateLimitReact<AppRouter>();

export interface PageOptions extends RenderOptions {
  strict?: boolean;
  /** Whether there is a QueryClient above the provider. @default true */
  query?: boolean;
  /** @default "stream" */
  live?: LiveMode;
  /** ms between two polls. @default 100 */
  pollInterval?: number;
}

/** @param links the links of the page's client before the terminating links. */
export async function startPage({
  links = [],
  ...options
}: LimitServerOptions & { links?: TRPCLink<AppRouter>[] } = {}) {
  const app = await startLimits(options);
  const queryClient = new QueryClient();
  const client = app.server.connect({ links });
  const rendered: RenderResult[] = [];

  /** Wraps children in the providers of an application. */
  function around(
    children: ReactNode,
    { strict = false, query = true, live = "stream", pollInterval = 100 }: PageOptions = {},
  ) {
    const withProvider = (
      <RateLimitProvider client={client} live={live} pollInterval={pollInterval}>
        {children}
      </RateLimitProvider>
    );
    const page = query ? (
      <QueryClientProvider client={queryClient}>{withProvider}</QueryClientProvider>
    ) : (
      withProvider
    );
    return strict ? <StrictMode>{page}</StrictMode> : page;
  }

  return {
    ...app,
    client,
    queryClient,
    around,
    render(children: ReactNode, pageOptions: PageOptions = {}): RenderResult {
      const result = render(around(children, pageOptions), pageOptions);
      rendered.push(result);
      return result;
    },
    async [Symbol.asyncDispose]() {
      for (const { unmount } of rendered) unmount();
      queryClient.clear();
      await app[Symbol.asyncDispose]();
    },
  };
}

export interface ShownProps {
  id: string;
  name?: keyof typeof LIMITS;
  limitKey?: string;
  count?: number;
}

/** Shows the status of a limit: `unknown`, or `ok` or `wait` and the value. See `textOf`. */
export function Shown({ id, name = "hourly", limitKey, count = 1 }: ShownProps) {
  const { status, value } = useRateLimit(name, { key: limitKey, count });
  const word = status === undefined ? "unknown" : status.ok ? "ok" : "wait";
  return <p data-testid={id}>{`${word} ${value ?? ""}`}</p>;
}

/** Shows the state of the connection. */
export function Connection({ id }: { id: string }) {
  return <p data-testid={id}>{useRateLimit("hourly").connection}</p>;
}

/** The text of the element with this `data-testid`. */
export function textOf(id: string): string | undefined {
  return document.querySelector(`[data-testid="${id}"]`)?.textContent?.trim();
}
