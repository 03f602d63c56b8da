// @vitest-environment jsdom
/** Pages that follow slots: how many are free, and when the next one can be. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, renderHook, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, it } from "vitest";
import { createRateLimitReact } from "../../../client/react/index.js";
import { startLimitServer } from "../../support/limit-server.js";
import { soon } from "../../support/soon.js";

const TTL = 60_000;
const limits = {
  generations: { kind: "concurrency", slots: 2, ttl: TTL },
} as const;
/** The server's clock. It stands still unless a test moves it. */
const START = Date.parse("2030-01-01T00:00Z");

const start = (clock: () => number) => startLimitServer(limits, { clock });
type AppRouter = Awaited<ReturnType<typeof start>>["router"];
const { RateLimitMeter, RateLimitProvider, useRateLimit } = createRateLimitReact<AppRouter>();

afterEach(cleanup);

async function startPage(clock: () => number) {
  const app = await start(clock);
  const client = app.server.connect();
  const queryClient = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>
      <RateLimitProvider client={client}>
        {children}
        <RateLimitMeter name="generations" label="Slots free" />
      </RateLimitProvider>
    </QueryClientProvider>
  );
  function useSlots() {
    const limit = useRateLimit("generations");
    const { status, value, config, connection } = limit;
    return { limit, text: [status?.ok, value, config?.slots, connection].join() };
  }
  const { result: hook } = renderHook(useSlots, { wrapper });
  await soon(() => expect(hook.current.text).toBe("true,2,2,live"));
  return {
    ...app,
    hook,
    meter: () => screen.getByRole("meter").getAttribute("aria-valuetext"),
    async [Symbol.asyncDispose]() {
      cleanup();
      await app[Symbol.asyncDispose]();
    },
  };
}

it("shows how many slots are free, as calls enter and leave them", async () => {
  await using page = await startPage(() => START);
  expect(page.meter()).toBe("2 of 2");
  await using first = await page.limiter.enter("generations");
  await soon(() => expect(page.hook.current.text).toBe("true,1,2,live"));
  await using second = await page.limiter.enter("generations");
  await soon(() => expect(page.hook.current.text).toBe("false,0,2,live"));
  expect(page.meter()).toBe("0 of 2");
  if (second.ok) await second.release();
  await soon(() => expect(page.hook.current.text).toBe("true,1,2,live"));
  if (first.ok) await first.release();
  await soon(() => expect(page.hook.current.text).toBe("true,2,2,live"));
  expect(page.meter()).toBe("2 of 2");
});

it("predicts when a slot can be free, as the server answers", async () => {
  let now = START;
  await using page = await startPage(() => now);
  await using first = await page.limiter.enter("generations");
  expect(first.ok).toBe(true);
  now += 1_000;
  await using second = await page.limiter.enter("generations");
  expect(second.ok).toBe(true);
  await soon(() => expect(page.hook.current.text).toBe("false,0,2,live"));
  // A better sample of the server's clock can come at any time.
  const offset = () => {
    const local = Date.now();
    return page.hook.current.limit.check(local, 0)!.now - local;
  };
  await soon(() => {
    expect(page.hook.current.limit.status!.retryAt! + offset()).toBe(START + TTL);
  });
  for (const at of [now, START + TTL - 1, START + TTL, START + TTL + 1_000]) {
    now = at;
    const answer = await page.limiter.check("generations");
    const local = at - offset();
    const predicted = page.hook.current.limit.check(local)!;
    expect({ at, ok: predicted.retryAt === undefined }).toEqual({ at, ok: answer.ok });
    if (answer.ok) continue;
    expect(predicted.retryAt! - local).toBe(answer.retryAfter);
  }
});
