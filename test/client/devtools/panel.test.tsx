// @vitest-environment jsdom
import type { TanStackDevtoolsReactInit } from "@tanstack/react-devtools";
import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
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
const connection = () => within(panel()).getByText("Connection").closest(".trl-line")!.textContent;
const limit = (name: string) =>
  within(panel()).getByRole("heading", { name }).closest("li") as HTMLElement;

/** Shows the details of a line. */
const openLine = (name: string) =>
  fireEvent.click(within(panel()).getByRole("button", { name, expanded: false }));

/** The line of a limit, without its details. */
const line = (name: string) => limit(name).querySelector(".trl-line")!.textContent;

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
    await soon(() => expect(connection()).toBe("Connectionlive"));
    const names = within(within(panel()).getByRole("list", { name: "Limits" })).getAllByRole(
      "heading",
    );
    expect(names.map(({ textContent }) => textContent)).toEqual(["hourly", "sendMessageroom 7"]);
    expect(line("hourly")).toBe("hourly3 of 3ok");
    expect(line("sendMessageroom 7")).toBe("sendMessageroom 73 of 3ok");
    // Nothing of the details is there before somebody wants it.
    expect(panel().querySelector("dl")).toBeNull();
    openLine("sendMessageroom 7");
    within(limit("sendMessageroom 7")).getByText("A call of 2 tokens would be granted");
    openLine("hourly");
    expect(fact(limit("hourly"), "Left")).toBe("3 of 3");
    expect(fact(limit("hourly"), "Limit")).toBe("token bucket: 1 per hour, holds up to 3");
    expect(fact(limit("hourly"), "Server's row")).toBe("full, or there is no row yet");
    expect(fact(limit("hourly"), "Last told")).toMatch(/ago$/);
    expect(fact(limit("hourly"), "Unanswered")).toBe("no call");
    // The stream says how late it is at least. The answer that follows says more.
    openLine("Connection");
    const clock = /^(like this one|.*s (ahead|behind)), give or take .*s$/;
    await soon(() => expect(fact(panel(), "Server's clock")).toMatch(clock));
    expect(fact(panel(), "Last answer")).toMatch(/^took .*s$/);
    expect(fact(panel(), "Server told")).toMatch(
      /^(once|\d+ times) by the stream, (once|\d+ times) when asked$/,
    );
    act(unmount);
    await soon(() => expect(panel().textContent).toContain("This page follows no rate limit."));
  });

  it("shows a denial with its countdown, and how the news came", async () => {
    await using page = await startPage();
    page.render(<Shown id="a" name="sendMessage" />);
    open(rateLimitDevtools({ client: page.client }));
    await soon(() => expect(connection()).toBe("Connectionlive"));
    openLine("Connection");
    openLine("sendMessage");
    const streamed = () => Number(/^\d+/.exec(fact(panel(), "Server told")!)?.[0] ?? 1);
    const before = streamed();
    await page.limiter.limit("sendMessage", { count: 3 });
    await soon(() =>
      expect(limit("sendMessage").textContent).toMatch(/would be denied \([1-3] s\)/),
    );
    expect(fact(limit("sendMessage"), "Left")).toMatch(/^0(\.\d+)? of 3$/);
    expect(streamed()).toBeGreaterThan(before);
    // Until the promised instant, without another question.
    await soon(() => expect(line("sendMessage")).toMatch(/ok$/));
  });

  it("shows debits until the server has reported the calls", async () => {
    await using page = await startPage();
    const observer = page.observer();
    const stop = observer.observe({ name: "hourly" }, 1, () => {});
    open(rateLimitDevtools({ observer }), "dark");
    openLine("hourly");
    await soon(() => expect(fact(limit("hourly"), "Left")).toBe("3 of 3"));
    const settle = observer.debit({ name: "hourly" }, 2);
    await soon(() => expect(fact(limit("hourly"), "Unanswered")).toBe("1 call"));
    expect(fact(limit("hourly"), "Left")).toBe("1 of 3");
    expect(fact(limit("hourly"), "Server's row")).toBe("full, or there is no row yet");
    settle(false);
    await soon(() => expect(fact(limit("hourly"), "Unanswered")).toBe("no call"));
    stop();
  });

  it("shows why the server does not tell about a limit", async () => {
    const warning = vi.spyOn(console, "warn").mockImplementation(() => {});
    onTestFinished(() => warning.mockRestore());
    await using page = await startPage();
    page.render(<Shown id="a" limitKey="secret" />);
    open(rateLimitDevtools({ client: page.client }));
    await soon(() => expect(line("hourlysecret")).toBe("hourlysecretnot told"));
    openLine("hourlysecret");
    expect(limit("hourlysecret").textContent).toContain("The server does not tell: ");
    expect(limit("hourlysecret").textContent).toContain("Unknown until the server tells of it");
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
    openLine("hourly");
    await soon(() => expect(fact(limit("hourly"), "Last told")).toBe("2 s ago"));
    expect({ messages: messages(), limits: observer.inspect().limits }).toEqual(before);
  });

  it("has one line for each of fifty limits, and details only for those that are open", async () => {
    const limits = createFakeRateLimits();
    for (let i = 10; i < 60; i++) limits.observe({ name: `limit ${i}` }, 1, () => {});
    open(rateLimitDevtools({ observer: limits }));
    await soon(() => expect(panel().querySelectorAll(".trl-line")).toHaveLength(51));
    expect(panel().querySelectorAll("dl, svg")).toHaveLength(0);
    const closed = limit("limit 11").querySelector(".trl-left")!.firstChild;
    openLine("limit 10");
    expect(panel().querySelectorAll("dl")).toHaveLength(1);
    expect(fact(limit("limit 10"), "Unanswered")).toBe("no call");
    // The other lines are as they were.
    expect(limit("limit 11").querySelector(".trl-left")!.firstChild).toBe(closed);
    expect(within(panel()).getAllByRole("button", { expanded: true })).toHaveLength(1);
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
