// @vitest-environment jsdom
/** The provider's `caller`: the tabs of one caller share a stream. */
import { cleanup, render } from "@testing-library/react";
import { type ReactNode, StrictMode } from "react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { shareStream } from "../../../client/index.js";
import { createRateLimitReact } from "../../../client/react/index.js";
import { startLimitServer } from "../../support/limit-server.js";
import { soon } from "../../support/soon.js";
import { createWebLocks } from "../../support/web-locks.js";

const LIMITS = { hourly: { kind: "token bucket", rate: 3, period: 3_600_000 } } as const;
type AppRouter = Awaited<ReturnType<typeof startLimitServer<typeof LIMITS>>>["router"];

const shared = createRateLimitReact<AppRouter>({ shareStream });
const alone = createRateLimitReact<AppRouter>();

beforeEach(() => {
  // Neither jsdom nor Node 20 has Web Locks.
  const { locks } = createWebLocks().createClient((task) => setTimeout(task));
  Object.defineProperty(navigator, "locks", { value: locks, configurable: true });
});
afterEach(() => {
  cleanup();
  Reflect.deleteProperty(navigator, "locks");
});

/** Renders one page for each caller. They stand for tabs. */
async function startTabs({ RateLimitProvider, useRateLimit }: typeof shared) {
  const app = await startLimitServer(LIMITS);
  function Shown({ id }: { id: number }) {
    const { value, connection } = useRateLimit("hourly");
    return <p id={`tab-${id}`}>{`${value} ${connection}`}</p>;
  }
  const clients = Array.from({ length: 3 }, () => app.server.connect());
  const pages = (callers: readonly (string | null | undefined)[]) =>
    callers.map((caller, id) => (
      // oxlint-disable-next-line react/no-array-index-key -- the place in the list is the tab
      <RateLimitProvider key={id} client={clients[id]!} caller={caller}>
        <Shown id={id} />
      </RateLimitProvider>
    ));
  const { rerender } = render(<></>);
  async function show(ui: ReactNode, count: number) {
    rerender(ui);
    await soon(() => {
      for (let id = 0; id < count; id++) {
        expect(document.getElementById(`tab-${id}`)?.textContent).toMatch(/live$/);
      }
    });
  }
  return {
    app,
    show: (...callers: (string | null | undefined)[]) =>
      show(<>{pages(callers)}</>, callers.length),
    strictly: (...callers: string[]) =>
      show(<StrictMode>{pages(callers)}</StrictMode>, callers.length),
    texts: () => [...document.querySelectorAll("p")].map(({ textContent }) => textContent),
    streams: () => app.server.open("rateLimit.watch"),
    [Symbol.asyncDispose]: async () => {
      cleanup();
      await app[Symbol.asyncDispose]();
    },
  };
}

describe("RateLimitProvider with shareStream", () => {
  it("shares a stream with the tabs of the same caller, and follows a caller who changes", async () => {
    await using tabs = await startTabs(shared);
    await tabs.show("ann", "ann", "bob");
    await soon(() => expect(tabs.streams()).toBe(2));
    await tabs.show("ann", "ann", "ann");
    await soon(() => expect(tabs.streams()).toBe(1));
    await tabs.app.limiter.limit("hourly");
    await soon(() => expect(tabs.texts()).toEqual(Array(3).fill("2 live")));
  });

  it("has one stream in React's strict mode, which mounts twice, and lets all locks go", async () => {
    await using tabs = await startTabs(shared);
    await tabs.strictly("ann", "ann");
    await soon(() => expect(tabs.streams()).toBe(1));
    await tabs.strictly("bob", "ann");
    await soon(() => expect(tabs.streams()).toBe(2));
    await tabs.app.limiter.limit("hourly");
    await soon(() => expect(tabs.texts()).toEqual(Array(2).fill("2 live")));
    cleanup();
    await soon(async () => {
      expect(await navigator.locks.query()).toEqual({ held: [], pending: [] });
    });
    await soon(() => expect(tabs.streams()).toBe(0));
  });

  it("shares nothing without a caller", async () => {
    await using tabs = await startTabs(shared);
    await tabs.show(undefined, null, "");
    expect(tabs.streams()).toBe(3);
  });
});

describe("RateLimitProvider without shareStream", () => {
  it("shares nothing, whoever the caller is", async () => {
    await using tabs = await startTabs(alone);
    await tabs.show("ann", "ann", "ann");
    expect(tabs.streams()).toBe(3);
  });
});
