// @vitest-environment jsdom
import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render } from "@testing-library/react";
import { initTRPC } from "@trpc/server";
import { renderToString } from "react-dom/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createRateLimitReact } from "../../../client/react/index.js";
import { startServer } from "../../support/http.js";
import { RateLimitProvider, Shown, startPage, textOf } from "../../support/page.js";
import { settled, soon } from "../../support/soon.js";

const [STATUS, WATCH] = ["rateLimit.status", "rateLimit.watch"];

afterEach(cleanup);

describe("RateLimitProvider", () => {
  it("says what it needs, where it has no client", () => {
    const none = undefined as never;
    expect(() => renderToString(<RateLimitProvider client={none} />)).toThrow(
      "<RateLimitProvider> needs a client: <RateLimitProvider client={trpcClient}>",
    );
  });

  it("keeps snapshots in the QueryClient above it, where devtools find them", async () => {
    await using page = await startPage();
    page.render(
      <>
        <Shown id="a" name="sendMessage" />
        <Shown id="b" limitKey="ann" />
      </>,
    );
    await soon(() => expect(textOf("a")).toBe("ok 3"));
    await soon(() => expect(textOf("b")).toBe("ok 3"));
    const snapshot = () =>
      page.queryClient.getQueryData([
        ["rateLimit", "status"],
        { input: { name: "sendMessage" }, type: "query" },
      ]);
    expect(snapshot()).toMatchObject({ name: "sendMessage", value: 3, config: { capacity: 3 } });
    expect(
      page.queryClient.getQueryData([
        ["rateLimit", "status"],
        { input: { name: "hourly", key: "ann" }, type: "query" },
      ]),
    ).toMatchObject({
      name: "hourly",
      key: "ann",
      value: 3,
    });
    await soon(() => expect(page.server.open(WATCH)).toBe(1));
    await page.limiter.limit("sendMessage", { count: 2 });
    await soon(() => expect(snapshot()).toMatchObject({ value: 1 }));
  });

  it("starts from what the QueryClient holds while the server is silent", async () => {
    await using page = await startPage();
    await page.limiter.limit("hourly", { count: 2 });
    const first = page.render(<Shown id="a" />);
    await soon(() => expect(textOf("a")).toBe("ok 1"));
    first.unmount();
    page.server.block(WATCH);
    page.server.block(STATUS);
    page.render(<Shown id="a" />);
    expect(textOf("a")).toBe("ok 1");
  });

  it("disconnects from the server when it is unmounted", async () => {
    await using page = await startPage();
    const { unmount } = page.render(<Shown id="a" />, { strict: true });
    await soon(() => expect(textOf("a")).toBe("ok 3"));
    await soon(() => expect(page.server.open(WATCH)).toBe(1));
    unmount();
    await soon(() => expect(page.server.open(WATCH)).toBe(0));
    await settled(() => page.server.requests());
    const requests = page.server.requests();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(page.server.requests()).toBe(requests);
  });

  it("moves every hook to another client when it gets one", async () => {
    await using page = await startPage();
    await using other = await startPage();
    await other.limiter.limit("hourly", { count: 3 });
    const around = (client: typeof page.client) => (
      <RateLimitProvider client={client}>
        <Shown id="a" />
      </RateLimitProvider>
    );
    const { rerender } = render(around(page.client));
    await soon(() => expect(textOf("a")).toBe("ok 3"));
    await soon(() => expect(page.server.open(WATCH)).toBe(1));
    rerender(around(other.client));
    await soon(() => expect(textOf("a")).toBe("wait 0"));
    await soon(() => expect(page.server.open(WATCH)).toBe(0));
  });

  it("renders on a server, and hydrates without a mismatch", async () => {
    const complaints = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      await using page = await startPage();
      // The visitor's own cache may be newer than the server's page.
      await page.limiter.limit("hourly");
      page.render(<Shown id="a" />);
      await soon(() => expect(textOf("a")).toBe("ok 2"));
      const container = document.createElement("div");
      container.innerHTML = renderToString(page.around(<Shown id="b" />));
      expect(container.textContent.trim()).toBe("unknown");
      document.body.append(container);
      const onRecoverableError = vi.fn();
      page.render(<Shown id="b" />, { container, hydrate: true, onRecoverableError });
      await soon(() => expect(textOf("b")).toBe("ok 2"));
      expect(onRecoverableError).not.toHaveBeenCalled();
      expect(complaints).not.toHaveBeenCalled();
    } finally {
      complaints.mockRestore();
    }
  });

  it("uses a router at another path", async () => {
    await using page = await startPage();
    const t = initTRPC.create();
    const router = t.router({ api: t.router({ limits: page.router.rateLimit }) });
    await using server = await startServer(router, () => ({}));
    const elsewhere = createRateLimitReact<typeof router, "api.limits">({ path: "api.limits" });
    function Probe() {
      return <p data-testid="a">{elsewhere.useRateLimit("hourly").value}</p>;
    }
    render(
      <QueryClientProvider client={page.queryClient}>
        <elsewhere.RateLimitProvider client={server.connect()}>
          <Probe />
        </elsewhere.RateLimitProvider>
      </QueryClientProvider>,
    );
    await soon(() => expect(textOf("a")).toBe("3"));
    expect(
      page.queryClient.getQueryData([
        ["api", "limits", "status"],
        { input: { name: "hourly" }, type: "query" },
      ]),
    ).toBeDefined();
  });

  it("is named in the error of a hook without it", () => {
    // React 18 reports the error of a render before it throws it: to the console, and to the window,
    // where jsdom would print it. React 19 only throws it here.
    const report = vi.fn((event: ErrorEvent) => event.preventDefault());
    window.addEventListener("error", report);
    const complaints = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      expect(() => render(<Shown id="a" />)).toThrow(
        "useRateLimit needs a <RateLimitProvider> above it",
      );
      const reports = process.env["REACT_VERSION"] === "18" ? 2 : 0;
      expect(report).toHaveBeenCalledTimes(reports);
      expect(complaints).toHaveBeenCalledTimes(reports);
    } finally {
      complaints.mockRestore();
      window.removeEventListener("error", report);
    }
  });
});
