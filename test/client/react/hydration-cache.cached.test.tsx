// @vitest-environment jsdom
/** The QueryClient's data can be wrong: old, malformed, or refetched by the application. */
import { cleanup } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { RateLimitMeter, Shown, startPage, textOf } from "../../support/page.js";
import { settled, soon } from "../../support/soon.js";

const [STATUS, WATCH] = ["rateLimit.status", "rateLimit.watch"];
const KEY = [["rateLimit", "status"], { input: { name: "hourly" }, type: "query" }];
const config = { kind: "token bucket", rate: 1, period: 6000 } as const;

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

/** A page whose server never answers about limits. */
async function startSilent() {
  const page = await startPage();
  page.server.block(STATUS);
  page.server.block(WATCH);
  return page;
}

describe("a snapshot in the QueryClient", () => {
  it.each([
    ["has no ts", { name: "hourly", value: 0, now: Date.now(), config }],
    ["is of another shape", { pages: [], pageParams: [] }],
    ["is a text", "3 left"],
  ])("is ignored if it %s", async (_, held) => {
    await using page = await startSilent();
    page.queryClient.setQueryData(KEY, held);
    page.render(
      <>
        <Shown id="a" />
        <RateLimitMeter name="hourly" label="left" />
      </>,
    );
    expect(textOf("a")).toBe("unknown");
  });

  it("is not believed for longer than its denial lasted, without an answer", async () => {
    await using page = await startSilent();
    const [now, updatedAt] = [Date.now() - 240_000, Date.now() - 240_000];
    const denied = { name: "hourly", value: 0, ts: now, now, config };
    page.queryClient.setQueryData(KEY, denied, { updatedAt });
    page.render(<Shown id="a" />);
    expect(textOf("a")).toBe("ok 1");
  });

  it("denies calls for as long as it is young", async () => {
    await using page = await startSilent();
    const now = Date.now();
    const denied = { name: "hourly", value: 0, ts: now, now, config };
    page.queryClient.setQueryData(KEY, denied, { updatedAt: now });
    page.render(<Shown id="a" />);
    expect(textOf("a")).toBe("wait 0");
  });
});

describe("a QueryClient that was cleared, such as when someone logs out", () => {
  it("leaves nothing of the limit to components that are mounted later", async () => {
    await using page = await startSilent();
    const now = Date.now();
    const denied = { name: "hourly", value: 0, ts: now, now, config };
    page.queryClient.setQueryData(KEY, denied, { updatedAt: now });
    function App({ isOpen }: { isOpen: boolean }) {
      return isOpen && <Shown id="a" />;
    }
    const { rerender } = page.render(<App isOpen />);
    expect(textOf("a")).toBe("wait 0");
    rerender(page.around(<App isOpen={false} />));
    await settled(() => page.server.requests());
    page.queryClient.clear();
    rerender(page.around(<App isOpen />));
    expect(textOf("a")).toBe("unknown");
  });
});

describe("refetchQueries", () => {
  it("asks the server, shows the answer, and fails no entry", async () => {
    await using page = await startPage();
    // An entry that was hydrated has no function of its own.
    const snapshot = await page.client.rateLimit.status.query({ name: "hourly" });
    page.queryClient.setQueryData(KEY, snapshot);
    page.render([<Shown key="a" id="a" />, <Shown key="b" id="b" limitKey="ann" />]);
    await soon(() => expect(textOf("b")).toBe("ok 3"));
    await soon(() => expect(page.server.open(WATCH)).toBe(1));
    await settled(() => page.server.requests());
    const asked = page.server.requests(STATUS);
    await page.queryClient.refetchQueries({}, { throwOnError: true });
    expect(page.server.requests(STATUS)).toBe(asked + 2);
    for (const { state } of page.queryClient.getQueryCache().getAll()) {
      expect(state).toMatchObject({ status: "success", error: null });
    }
    expect(textOf("a")).toBe("ok 3");
  });

  it("reaches the hooks where there is no stream", async () => {
    await using page = await startPage();
    page.server.block(WATCH);
    page.render(<Shown id="a" />, { pollInterval: 1e6 });
    await soon(() => expect(textOf("a")).toBe("ok 3"));
    await settled(() => page.server.requests(STATUS));
    await page.limiter.limit("hourly");
    await page.queryClient.refetchQueries({ queryKey: KEY });
    await soon(() => expect(textOf("a")).toBe("ok 2"));
  });
});
