// @vitest-environment jsdom
import { focusManager, onlineManager } from "@tanstack/react-query";
import { act, cleanup, render, screen } from "@testing-library/react";
import { Suspense } from "react";
import { afterEach, describe, expect, it } from "vitest";
import {
  Connection,
  RateLimitProvider,
  Shown,
  startPage,
  textOf,
  useRateLimit,
} from "../../support/page.js";
import { settled, soon } from "../../support/soon.js";

const [STATUS, WATCH] = ["rateLimit.status", "rateLimit.watch"];

afterEach(() => {
  cleanup();
  focusManager.setFocused(undefined);
  onlineManager.setOnline(true);
});

function Switched({ on }: { on: boolean }) {
  const { status, value, config, check } = useRateLimit("hourly", { enabled: on });
  const known = [status?.ok, value, config?.capacity, check()?.value.toFixed()];
  return <p data-testid="switched">{known.join()}</p>;
}

describe("RateLimitProvider", () => {
  it("uses an observer that it is given, and leaves it open", async () => {
    await using page = await startPage();
    const observer = page.observer();
    const around = (
      <RateLimitProvider observer={observer}>
        <Shown id="a" />
      </RateLimitProvider>
    );
    const { unmount } = render(around);
    await soon(() => expect(textOf("a")).toBe("ok 3"));
    unmount();
    const [seen, item] = [[] as unknown[], { name: "hourly" }];
    observer.observe(item, 1, () => seen.push(observer.remaining(item)));
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(true));
    await page.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(seen).toContain(0));
  });

  it("keeps two providers on one page apart", async () => {
    await using page = await startPage();
    await using other = await startPage();
    await other.limiter.limit("hourly", { count: 3 });
    render([
      <RateLimitProvider key="a" client={page.client}>
        <Shown id="a" />
        <RateLimitProvider client={other.client}>
          <Shown id="inner" />
        </RateLimitProvider>
      </RateLimitProvider>,
      <RateLimitProvider key="b" client={other.client}>
        <Shown id="b" />
      </RateLimitProvider>,
    ]);
    await soon(() => expect(textOf("a")).toBe("ok 3"));
    await soon(() => expect(textOf("inner")).toBe("wait 0"));
    await soon(() => expect(textOf("b")).toBe("wait 0"));
    await page.limiter.limit("hourly");
    await soon(() => expect(textOf("a")).toBe("ok 2"));
    expect(textOf("b")).toBe("wait 0");
  });

  it.each([
    ["the window has the focus", (is: boolean) => focusManager.setFocused(is)],
    ["the network is back", (is: boolean) => onlineManager.setOnline(is)],
  ])("refreshes when %s again, and not before", async (_, set) => {
    await using page = await startPage();
    page.render([<Shown key="a" id="a" />, <Connection key="c" id="c" />]);
    await soon(() => expect(textOf("c")).toBe("live"));
    await settled(() => page.server.requests());
    const requests = page.server.requests(STATUS);
    act(() => set(false));
    await settled(() => page.server.requests());
    expect(page.server.requests(STATUS)).toBe(requests);
    act(() => set(true));
    await soon(() => expect(page.server.requests(STATUS)).toBe(requests + 1));
  });

  it("stops asking once it is unmounted", async () => {
    await using page = await startPage();
    const observer = page.observer();
    const stop = observer.observe({ name: "hourly" }, 1, () => {});
    const { unmount } = render(<RateLimitProvider observer={observer} />);
    unmount();
    await soon(() => expect(observer.connection).toBe("live"));
    await settled(() => page.server.requests());
    const requests = page.server.requests();
    act(() => focusManager.setFocused(false));
    act(() => focusManager.setFocused(true));
    await settled(() => page.server.requests());
    expect(page.server.requests()).toBe(requests);
    stop();
  });
});

describe("useRateLimit", () => {
  it("follows nothing and knows nothing while it is disabled", async () => {
    await using page = await startPage();
    const { rerender } = page.render(<Switched on={false} />);
    await settled(() => page.server.requests());
    expect(page.server.requests()).toBe(0);
    expect(textOf("switched")).toBe(",,,");
    rerender(page.around(<Switched on />));
    await soon(() => expect(textOf("switched")).toBe("true,3,3,2"));
    await soon(() => expect(page.server.open(WATCH!)).toBe(1));
    rerender(page.around(<Switched on={false} />));
    expect(textOf("switched")).toBe(",,,");
    await soon(() => expect(page.server.open(WATCH!)).toBe(0));
  });

  it("works below a Suspense boundary that suspends and resumes", async () => {
    await using page = await startPage();
    let waiting: Promise<void> | undefined;
    function Lazy() {
      if (waiting !== undefined) throw waiting;
      return <p>loaded</p>;
    }
    const suspended = () => (
      <Suspense fallback="loading">
        <Shown id="a" />
        <Lazy />
      </Suspense>
    );
    let load = () => {};
    waiting = new Promise((resolve) => (load = resolve));
    const { rerender } = page.render(suspended());
    expect(screen.queryByText("loaded")).toBeNull();
    waiting = undefined;
    await act(async () => load());
    await soon(() => expect(textOf("a")).toBe("ok 3"));
    waiting = new Promise((resolve) => (load = resolve));
    rerender(page.around(suspended()));
    await page.limiter.limit("hourly");
    waiting = undefined;
    await act(async () => load());
    await soon(() => expect(textOf("a")).toBe("ok 2"));
    await soon(() => expect(page.server.open(WATCH!)).toBe(1));
  });
});
