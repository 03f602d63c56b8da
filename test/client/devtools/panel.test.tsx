// @vitest-environment jsdom
import type { TanStackDevtoolsReactInit } from "@tanstack/react-devtools";
import { act, cleanup, render, screen, within } from "@testing-library/react";
import axe from "axe-core";
import { afterEach, describe, expect, expectTypeOf, it, onTestFinished, vi } from "vitest";
import { rateLimitDevtools, type RateLimitDevtoolsPlugin } from "../../../client/devtools/index.js";
import { createFakeRateLimits } from "../../../testing/index.js";
import { Shown, startPage, textOf } from "../../support/page.js";
import { settled, soon } from "../../support/soon.js";

afterEach(cleanup);

/** Renders the panel as TanStack Devtools does: in an element of its own. */
function open(plugin: RateLimitDevtoolsPlugin, theme: "light" | "dark" = "light") {
  return render(plugin.render(document.createElement("div"), { theme }));
}

const panel = () => screen.getByRole("region", { name: "Rate limits" });
const limit = (name: string) =>
  within(panel()).getByRole("heading", { name }).closest("li") as HTMLElement;

/** The text beside a term. */
function fact(within_: HTMLElement, term: string): string | undefined {
  const row = [...within_.querySelectorAll("dl > div")].find(
    (element) => element.querySelector("dt")?.textContent === term,
  );
  return row?.querySelector("dd")?.textContent ?? undefined;
}

describe("rateLimitDevtools", () => {
  it("is a plugin for TanStack Devtools", () => {
    type Plugin = NonNullable<TanStackDevtoolsReactInit["plugins"]>[number];
    expectTypeOf<RateLimitDevtoolsPlugin>().toExtend<Plugin>();
    const plugin = rateLimitDevtools({ observer: createFakeRateLimits() });
    expect(plugin).toMatchObject({ id: "trpc-rate-limit", name: "Rate limits" });
  });

  it("says that the page follows nothing, and shows limits as components begin to follow them", async () => {
    await using page = await startPage();
    open(rateLimitDevtools({ client: page.client }));
    expect(panel().textContent).toContain("This page follows no rate limit.");
    const { unmount } = page.render(
      <>
        <Shown id="a" />
        <Shown id="b" name="sendMessage" limitKey="room 7" count={2} />
      </>,
    );
    await soon(() => expect(fact(panel(), "Connection")).toBe("live"));
    const names = within(within(panel()).getByRole("list", { name: "Limits" })).getAllByRole(
      "heading",
    );
    expect(names.map(({ textContent }) => textContent)).toEqual(["hourly", "sendMessageroom 7"]);
    expect(limit("hourly").textContent).toContain("ok");
    expect(limit("sendMessageroom 7").textContent).toContain("for 2: ok");
    expect(fact(limit("hourly"), "Value")).toBe("3 of 3");
    expect(fact(limit("hourly"), "Config")).toBe("token bucket: 1 per 1 h, holds 3");
    expect(fact(limit("hourly"), "Server's row")).toBe("full, or not there");
    expect(fact(limit("hourly"), "Read")).toMatch(/ago$/);
    expect(fact(limit("hourly"), "In flight")).toBe("0 debits");
    // The stream says how late it is at least. The answer that follows says more.
    const clock = /^(equal|\d.*s (ahead|behind)), ± \d.*s$/;
    await soon(() => expect(fact(panel(), "Server's clock")).toMatch(clock));
    expect(fact(panel(), "Last round trip")).toMatch(/^\d.*s$/);
    expect(fact(panel(), "Snapshots")).toMatch(/^[1-9]\d* by stream, [1-9]\d* by question$/);
    act(unmount);
    await soon(() => expect(panel().textContent).toContain("This page follows no rate limit."));
  });

  it("shows a denial with its countdown, and how the news came", async () => {
    await using page = await startPage();
    page.render(<Shown id="a" name="sendMessage" />);
    open(rateLimitDevtools({ client: page.client }));
    await soon(() => expect(fact(panel(), "Connection")).toBe("live"));
    const streamed = () => Number(/^\d+/.exec(fact(panel(), "Snapshots")!)![0]);
    const before = streamed();
    await page.limiter.limit("sendMessage", { count: 3 });
    await soon(() => expect(limit("sendMessage").textContent).toMatch(/denied, ok in [1-3] s/));
    expect(fact(limit("sendMessage"), "Value")).toMatch(/^0(\.\d+)? of 3$/);
    expect(streamed()).toBeGreaterThan(before);
    // Until the promised instant, without another question.
    await soon(() => expect(limit("sendMessage").textContent).not.toContain("denied"));
  });

  it("shows debits until the server has reported the calls", async () => {
    await using page = await startPage();
    const observer = page.observer();
    const stop = observer.observe({ name: "hourly" }, 1, () => {});
    open(rateLimitDevtools({ observer }), "dark");
    await soon(() => expect(fact(limit("hourly"), "Value")).toBe("3 of 3"));
    const settle = observer.debit({ name: "hourly" }, 2);
    await soon(() => expect(fact(limit("hourly"), "In flight")).toBe("1 debit"));
    expect(fact(limit("hourly"), "Value")).toBe("1 of 3");
    expect(fact(limit("hourly"), "Server's row")).toBe("full, or not there");
    settle(false);
    await soon(() => expect(fact(limit("hourly"), "In flight")).toBe("0 debits"));
    stop();
  });

  it("shows why the server does not tell about a limit", async () => {
    const warning = vi.spyOn(console, "warn").mockImplementation(() => {});
    onTestFinished(() => warning.mockRestore());
    await using page = await startPage();
    page.render(<Shown id="a" limitKey="secret" />);
    open(rateLimitDevtools({ client: page.client }));
    await soon(() =>
      expect(limit("hourlysecret").textContent).toContain("The server does not tell: "),
    );
    expect(limit("hourlysecret").textContent).toContain("unknown");
    expect(textOf("a")).toBe("unknown");
    const told = 'The server refuses to tell about rate limit "hourly":';
    expect(warning.mock.calls).toEqual([[told, expect.any(Error)]]);
  });

  it("changes nothing about the page: no request, no followed limit", async () => {
    await using page = await startPage();
    const observer = page.observer();
    observer.observe({ name: "hourly" }, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    const messages = () => observer.inspect().answered + observer.inspect().streamed;
    await settled(messages);
    const before = { messages: messages(), limits: observer.inspect().limits };
    open(rateLimitDevtools({ observer }));
    await soon(() => expect(fact(limit("hourly"), "Read")).toBe("2 s ago"));
    expect({ messages: messages(), limits: observer.inspect().limits }).toEqual(before);
  });

  it.each(["light", "dark"] as const)("takes the theme: %s", async (theme) => {
    const limits = createFakeRateLimits();
    limits.deny("sendMessage", Date.now() + 60_000);
    const plugin = rateLimitDevtools({ observer: limits });
    const { unmount } = open(plugin, theme);
    expect(panel().dataset["theme"]).toBe(theme);
    // jsdom has no layout, so contrast is tested in a browser.
    const { violations } = await axe.run(panel(), {
      rules: { "color-contrast": { enabled: false }, region: { enabled: false } },
    });
    expect(violations).toEqual([]);
    unmount();
    // Older versions of TanStack Devtools pass the theme itself.
    render(plugin.render(document.createElement("div"), theme));
    expect(panel().dataset["theme"]).toBe(theme);
  });
});
