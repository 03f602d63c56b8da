// @vitest-environment jsdom
import {
  dehydrate,
  type DehydratedState,
  HydrationBoundary,
  QueryClient,
  QueryClientProvider,
} from "@tanstack/react-query";
import { cleanup, screen } from "@testing-library/react";
import { type ReactNode, Suspense } from "react";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  RateLimitCountdown,
  RateLimitMeter,
  RateLimitProvider,
  Shown,
  startPage,
  textOf,
  useRateLimit,
} from "../../support/page.js";
import { soon } from "../../support/soon.js";

const complaints = vi.spyOn(console, "error");
const hiccups = vi.fn();

beforeEach(() => {
  complaints.mockReset();
  hiccups.mockReset();
});
afterEach(cleanup);

/** Renders like a server that has prefetched the limit, and puts the result on the page. */
async function serve(page: Awaited<ReturnType<typeof startPage>>, children: ReactNode) {
  const queryClient = new QueryClient();
  await queryClient.prefetchQuery({
    queryKey: [["rateLimit", "status"], { input: { name: "hourly" }, type: "query" }],
    queryFn: () => page.client.rateLimit.status.query({ name: "hourly" }),
  });
  const state = JSON.parse(JSON.stringify(dehydrate(queryClient))) as DehydratedState;
  queryClient.clear();
  const hydrated = <HydrationBoundary state={state}>{children}</HydrationBoundary>;
  const container = document.createElement("div");
  document.body.append(container);
  container.innerHTML = renderToString(
    <QueryClientProvider client={new QueryClient()}>
      <RateLimitProvider client={page.client}>{hydrated}</RateLimitProvider>
    </QueryClientProvider>,
  );
  return { container, hydrated };
}

describe("a page whose server has prefetched a limit", () => {
  it("shows it in the server's HTML, hydrates to the same, and goes live", async () => {
    await using page = await startPage();
    await page.limiter.limit("hourly");
    const shown = (
      <>
        <Shown id="a" />
        <Shown id="three" count={3} />
        <RateLimitMeter name="hourly" label="left" />
      </>
    );
    const { container, hydrated } = await serve(page, shown);
    expect(textOf("a")).toBe("ok 2");
    expect(textOf("three")).toBe("wait 2");
    expect(screen.getByRole("meter").getAttribute("aria-valuetext")).toBe("2 of 3");
    // By the time of hydration, the value is old.
    await page.limiter.limit("hourly");
    page.render(hydrated, { container, hydrate: true, onRecoverableError: hiccups });
    await soon(() => expect(textOf("a")).toBe("ok 1"));
    expect(hiccups).not.toHaveBeenCalled();
    expect(complaints).not.toHaveBeenCalled();
  });

  it("never goes back to an unknown status on the way", async () => {
    await using page = await startPage();
    const { container, hydrated } = await serve(page, <Shown id="a" />);
    const texts = new Set<string | null>();
    new MutationObserver(() => texts.add(container.textContent)).observe(container, {
      childList: true,
      characterData: true,
      subtree: true,
    });
    page.server.delay("rateLimit.status");
    page.render(hydrated, { container, hydrate: true, onRecoverableError: hiccups });
    await soon(() => expect(page.server.open("rateLimit.watch")).toBe(1));
    expect(textOf("a")).toBe("ok 3");
    expect([...texts]).toEqual([]);
    expect(hiccups).not.toHaveBeenCalled();
  });

  it("hydrates late parts to what the server showed, whatever was received since", async () => {
    await using page = await startPage();
    let code: Promise<void> | undefined;
    function Late() {
      // Like a part whose code has not been loaded.
      if (code !== undefined) throw code;
      return <Shown id="late" />;
    }
    const { container, hydrated } = await serve(
      page,
      <>
        <Shown id="early" />
        <Suspense fallback="loading">
          <Late />
        </Suspense>
      </>,
    );
    let load = () => {};
    code = new Promise((resolve) => (load = resolve));
    page.render(hydrated, { container, hydrate: true, onRecoverableError: hiccups });
    await soon(() => expect(page.server.open("rateLimit.watch")).toBe(1));
    await page.limiter.limit("hourly");
    await soon(() => expect(textOf("early")).toBe("ok 2"));
    expect(textOf("late")).toBe("ok 3");
    code = undefined;
    load();
    await soon(() => expect(textOf("late")).toBe("ok 2"));
    expect(hiccups).not.toHaveBeenCalled();
    expect(complaints).not.toHaveBeenCalled();
  });

  it("starts a countdown without an error of React's", async () => {
    await using page = await startPage();
    await page.limiter.limit("hourly", { count: 3 });
    function Wait() {
      const { status } = useRateLimit("hourly");
      return (
        <p data-testid="a">
          Wait <RateLimitCountdown retryAt={status?.retryAt} />
        </p>
      );
    }
    const { container, hydrated } = await serve(page, <Wait />);
    expect(textOf("a")).toMatch(/^Wait (59m \d+s|1h 0m)$/);
    page.render(hydrated, { container, hydrate: true, onRecoverableError: hiccups });
    await soon(() => expect(textOf("a")).toMatch(/^Wait (59m \d+s|1h 0m)$/));
    expect(hiccups).not.toHaveBeenCalled();
    expect(complaints).not.toHaveBeenCalled();
  });
});
