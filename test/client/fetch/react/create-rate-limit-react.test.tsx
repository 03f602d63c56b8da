// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render } from "@testing-library/react";
import { type ReactNode, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { inspectRateLimits, shareStream } from "../../../../client/fetch/index.js";
import { createRateLimitReact } from "../../../../client/fetch/react/index.js";
import { createFakeRateLimits } from "../../../../testing/index.js";
import { createHandHandler, URL_OF_LIMITS } from "../../../support/hand-handler.js";
import { snapshotOf } from "../../../support/hand-transport.js";
import { textOf } from "../../../support/page.js";

const complaints = vi.spyOn(console, "error");

beforeEach(() => {
  vi.useFakeTimers({ now: 1e6 });
  complaints.mockReset();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

function start(tokens: Record<string, number> = { a: 3, b: 1 }) {
  const handler = createHandHandler(tokens);
  const { fetch, EventSource } = handler;
  const hooks = createRateLimitReact({ url: URL_OF_LIMITS, fetch, EventSource });
  function Shown({ id, name = "a" }: { id: string; name?: string }) {
    const { status, value, connection } = hooks.useRateLimit(name);
    const word = status === undefined ? "unknown" : status.ok ? "ok" : "wait";
    return <p data-testid={id}>{`${word} ${value ?? ""} ${connection}`}</p>;
  }
  return { ...handler, ...hooks, Shown };
}

describe("RateLimitProvider", () => {
  it("follows the limits of its handler, also in strict mode", async () => {
    const { RateLimitProvider, RateLimitMeter, Shown, streams, asked, names } = start();
    const page = (
      <StrictMode>
        <RateLimitProvider>
          <Shown id="a" />
          <Shown id="b" name="b" />
          <RateLimitMeter name="a" label="left" />
        </RateLimitProvider>
      </StrictMode>
    );
    const { unmount } = render(page);
    expect(textOf("a")).toBe("unknown  polling");
    await pass(1);
    expect([textOf("a"), textOf("b")]).toEqual(["ok 3 polling", "ok 1 polling"]);
    expect(names()).toEqual([["a", "b"]]);
    for (const name of ["a", "b"]) streams.at(-1)!.send(snapshotOf(name, 0));
    await pass(1);
    expect([textOf("a"), textOf("b")]).toEqual(["wait 0 live", "wait 0 live"]);
    unmount();
    await pass(1);
    asked.length = 0;
    await pass(60_000);
    expect(asked).toEqual([]);
    expect(streams.every(({ isClosed }) => isClosed)).toBe(true);
    expect(inspectRateLimits({ url: URL_OF_LIMITS })).toEqual([]);
  });

  it("keeps what it follows apart from another provider of the same URL", async () => {
    const { RateLimitProvider, Shown } = start();
    const both = render(
      <>
        <RateLimitProvider live="off">
          <Shown id="a" />
        </RateLimitProvider>
        <RateLimitProvider live="off">
          <Shown id="b" name="b" />
        </RateLimitProvider>
      </>,
    );
    await pass(1);
    const followed = inspectRateLimits({ url: URL_OF_LIMITS }).map(({ limits }) =>
      limits.map(({ item }) => item.name),
    );
    expect(followed).toEqual([["a"], ["b"]]);
    expect([textOf("a"), textOf("b")]).toEqual(["ok 3 polling", "ok 1 polling"]);
    both.unmount();
  });

  it("takes an observer of the page, and does not close it", async () => {
    const { RateLimitProvider, Shown, asked } = start();
    const limits = createFakeRateLimits({
      limits: { a: { kind: "token bucket", rate: 5, period: 1000 } },
    });
    const close = vi.spyOn(limits, "close");
    const { unmount } = render(
      <RateLimitProvider observer={limits}>
        <Shown id="a" />
      </RateLimitProvider>,
    );
    await pass(1);
    expect(textOf("a")).toContain("ok 5");
    unmount();
    expect([asked.length, close.mock.calls.length]).toEqual([0, 0]);
  });

  it("keeps its observer when the page renders anew, and takes another one for another way", async () => {
    const { RateLimitProvider, Shown, asked } = start();
    const page = (live: "off" | "poll") => (
      <RateLimitProvider live={live}>
        <Shown id="a" />
      </RateLimitProvider>
    );
    const { rerender } = render(page("off"));
    await pass(1);
    rerender(page("off"));
    await pass(60_000);
    expect(asked).toHaveLength(1);
    rerender(page("poll"));
    await pass(5001);
    expect(asked.length).toBeGreaterThan(2);
  });

  it("shares no stream without a caller", async () => {
    const { fetch, EventSource, streams } = createHandHandler({ a: 3 });
    const share = vi.fn(shareStream);
    const hooks = createRateLimitReact({
      url: URL_OF_LIMITS,
      fetch,
      EventSource,
      shareStream: share as typeof shareStream,
    });
    function Shown() {
      return <p data-testid="a">{String(hooks.useRateLimit("a").status?.ok)}</p>;
    }
    render(
      <hooks.RateLimitProvider caller={undefined}>
        <Shown />
      </hooks.RateLimitProvider>,
    );
    await pass(1);
    expect(share).toHaveBeenCalledWith(expect.objectContaining({ path: URL_OF_LIMITS }), {
      caller: undefined,
    });
    expect([textOf("a"), streams.length]).toEqual(["true", 1]);
  });
});

describe("a page that a server rendered", () => {
  const hiccups = vi.fn();
  beforeEach(() => void hiccups.mockReset());

  function hydrate(page: ReactNode, html: string) {
    const container = document.createElement("div");
    document.body.append(container);
    container.innerHTML = html;
    return render(page, { container, hydrate: true, onRecoverableError: hiccups });
  }

  it("shows nothing as known, asks nothing on the server, and hydrates to the same", async () => {
    const { RateLimitProvider, RateLimitCountdown, Shown, asked, streams } = start();
    const page = (
      <RateLimitProvider>
        <Shown id="a" />
        <RateLimitCountdown retryAt={undefined} />
      </RateLimitProvider>
    );
    const html = renderToString(page);
    expect(html).toContain("unknown  polling");
    await pass(10_000);
    expect([asked.length, streams.length]).toEqual([0, 0]);
    hydrate(page, html);
    await pass(1);
    expect(textOf("a")).toBe("ok 3 polling");
    expect(hiccups).not.toHaveBeenCalled();
    expect(complaints).not.toHaveBeenCalled();
  });

  it("shows at once what the server has put into the QueryClient", async () => {
    const { RateLimitProvider, Shown, asked } = start();
    const pageOf = () => {
      const queryClient = new QueryClient();
      queryClient.setQueryData(
        ["trpc-rate-limit", URL_OF_LIMITS, { name: "a" }],
        snapshotOf("a", 2),
      );
      return (
        <QueryClientProvider client={queryClient}>
          <RateLimitProvider live="off">
            <Shown id="a" />
          </RateLimitProvider>
        </QueryClientProvider>
      );
    };
    const html = renderToString(pageOf());
    expect(html).toContain("ok 2 polling");
    hydrate(pageOf(), html);
    await pass(1);
    expect(textOf("a")).toBe("ok 2 polling");
    // It is so young that the page need not ask.
    expect(asked).toEqual([]);
    expect(hiccups).not.toHaveBeenCalled();
    expect(complaints).not.toHaveBeenCalled();
  });
});

it("says what a hook needs, outside of a provider", () => {
  const { Shown } = start();
  expect(() => renderToString(<Shown id="a" />)).toThrow(
    "useRateLimit needs a <RateLimitProvider> above it, of the same createRateLimitReact()",
  );
});
