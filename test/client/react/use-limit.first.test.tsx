// @vitest-environment jsdom
/** Pages that predict who pays: the plan, or the credits. The server then answers the same. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, it } from "vitest";
import { type FirstPrediction, predictFirst } from "../../../client/index.js";
import { createRateLimitReact } from "../../../client/react/index.js";
import { HOUR, MAX_RETRY_AFTER } from "../../../server/index.js";
import { startLimitServer } from "../../support/limit-server.js";
import { soon } from "../../support/soon.js";

const limits = {
  plan: { kind: "fixed window", rate: 10, period: HOUR, start: 0 },
  credits: { kind: "credits" },
} as const;
/** The server's clock. It stands still unless a test moves it. */
const START = Date.parse("2030-01-01T00:15Z");

const start = (clock: () => number) => startLimitServer(limits, { clock });
type AppRouter = Awaited<ReturnType<typeof start>>["router"];
const { RateLimitProvider, useRateLimit } = createRateLimitReact<AppRouter>();

afterEach(cleanup);

async function startPage(split: boolean, count: number) {
  const app = await start(() => START);
  const client = app.server.connect();
  const queryClient = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>
      <RateLimitProvider client={client}>{children}</RateLimitProvider>
    </QueryClientProvider>
  );
  function usePayer({ wanted }: { wanted: number }) {
    const plan = useRateLimit("plan", { count: wanted });
    const credits = useRateLimit("credits", { count: wanted });
    return { plan, first: predictFirst({ plan, credits }, { count: wanted, split }) };
  }
  const initialProps = { wanted: count };
  const { result: hook, rerender } = renderHook(usePayer, { wrapper, initialProps });
  return {
    ...app,
    wants: (wanted: number) => rerender({ wanted }),
    /** Waits until the page shows `text`, and compares it with what the server then answers. */
    async call(text: string, cost: number) {
      await soon(() => expect(textOf(hook.current.first)).toBe(text));
      const { plan, first } = hook.current;
      const result = await app.limiter.limitFirst(["plan", "credits"], { count: cost, split });
      expect(first!.status.ok).toBe(result.ok);
      if (result.ok) {
        expect(first!.paid).toEqual(result.paid);
      } else if (result.retryAfter === MAX_RETRY_AFTER) {
        expect(first!.status.retryAt).toBe(Infinity);
      } else {
        // The server's clock has other instants than the page's.
        const ahead = plan.check(0, 0)!.now;
        expect(Math.round(first!.status.retryAt! + ahead)).toBe(START + result.retryAfter);
      }
    },
    async [Symbol.asyncDispose]() {
      cleanup();
      await app[Symbol.asyncDispose]();
    },
  };
}

function textOf(first: FirstPrediction | undefined): string {
  if (first === undefined) return "unknown";
  const { status, paid } = first;
  const wait = status.ok ? "now" : status.retryAt === Infinity ? "never" : "later";
  return [wait, ...paid.map(({ name, count }) => name + count)].join(" ");
}

it("shows that the plan pays, then the credits, and then that the next window will", async () => {
  await using page = await startPage(false, 4);
  await page.call("now plan4", 4);
  await page.call("now plan4", 4);
  await page.call("later plan4", 4);
  await page.limiter.credit("credits", { count: 6 });
  await page.call("now credits4", 4);
  // The 2 of the plan and the 2 credits do not pay together.
  await page.call("later plan4", 4);
  page.wants(2);
  await page.call("now plan2", 2);
  await page.call("now credits2", 2);
  page.wants(11);
  await page.call("never", 11);
});

it("shows what each of them gives of a call that both pay for", async () => {
  await using page = await startPage(true, 7);
  await page.call("now plan7", 7);
  await page.limiter.credit("credits", { count: 9 });
  await page.call("now plan3 credits4", 7);
  // 5 credits are too few. The next window of the plan has all 7.
  await page.call("later plan7", 7);
  await page.limiter.credit("credits", { count: 2 });
  await page.call("now credits7", 7);
  page.wants(11);
  await page.call("never", 11);
});
