// @vitest-environment jsdom
/** The actions of a developer in the panel. */
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import axe from "axe-core";
import { afterEach, expect, it, vi } from "vitest";
import { rateLimitDevtools } from "../../../client/devtools/index.js";
import { createFakeRateLimits } from "../../../testing/index.js";
import { Shown, startPage, textOf } from "../../support/page.js";
import { soon } from "../../support/soon.js";

afterEach(cleanup);

type Page = Awaited<ReturnType<typeof startPage>>;

/** Opens the panel of a page that follows two limits. */
async function open(page: Page) {
  const plugin = rateLimitDevtools({ client: page.client });
  page.render(
    <>
      <Shown id="a" />
      <Shown id="b" name="sendMessage" limitKey="room 7" />
    </>,
  );
  const { unmount } = render(plugin.render(document.createElement("div"), "light"));
  await soon(() => expect(textOf("a")).toBe("ok 3"));
  await soon(() => within(panel()).getByText("live"));
  fireEvent.click(limit("hourly").getByRole("button", { name: "hourly" }));
  return { plugin, unmount };
}

const panel = () => screen.getByRole("region", { name: "Rate limits" });
const limits = () => within(within(panel()).getByRole("list", { name: "Limits" }));
const names = () =>
  limits()
    .queryAllByRole("heading")
    .map(({ textContent }) => textContent);
const limit = (name: string) =>
  within(limits().getByRole("heading", { name }).closest("li") as HTMLElement);
const click = (within_: ReturnType<typeof within>, name: string) =>
  fireEvent.click(within_.getByRole("button", { name }));
const events = () => within(panel()).getByText("Timeline").closest(".trl-timeline")!.textContent;

it("drains, denies and refills in this page only, says so, and comes back to the truth", async () => {
  await using page = await startPage();
  await open(page);
  click(limit("hourly"), "Drain");
  await soon(() => expect(textOf("a")).toBe("wait 0"));
  await soon(() => limit("hourly").getByText(/^Pretended: drained, in this page only\./));
  // The server has told nothing of it.
  expect(limit("hourly").queryByText("Server's row")).toBeNull();
  expect(events()).toContain("hourly: drained, in this page only");
  expect((await page.limiter.getValue("hourly")).value).toBe(3);
  click(limit("hourly"), "Refill");
  await soon(() => expect(textOf("a")).toBe("ok 3"));
  click(limit("hourly"), "Deny for 10 s");
  await soon(() => limit("hourly").getByText(/^A call of 1 token would be denied \(\d+ s\)$/));
  click(limit("hourly"), "Ask the server");
  await soon(() => expect(textOf("a")).toBe("ok 3"));
  await soon(() => expect(limit("hourly").queryByText(/^Pretended/)).toBeNull());
  expect(limit("hourly").getByText("Server's row")).toBeTruthy();
});

it("goes offline with the whole page, and online again", async () => {
  await using page = await startPage();
  await open(page);
  click(within(panel()), "Go offline");
  await soon(() => within(panel()).getByText("offline"));
  within(panel()).getByText(/^Offline, in this page only/);
  await page.limiter.limit("hourly");
  click(within(panel()), "Go online");
  await soon(() => expect(textOf("a")).toBe("ok 2"));
  await soon(() => within(panel()).getByText("live"));
  expect(within(panel()).queryByText(/^Offline/)).toBeNull();
});

it("asks for all limits at once", async () => {
  await using page = await startPage();
  await open(page);
  const before = page.server.requests("rateLimit.status");
  click(within(panel()), "Ask the server for all");
  await soon(() => expect(page.server.requests("rateLimit.status")).toBe(before + 2));
});

it("shows the limits and events that have a text", async () => {
  await using page = await startPage();
  await open(page);
  await page.limiter.limit("hourly", { count: 3 });
  await expect(page.client.take.mutate({ name: "hourly" })).rejects.toThrow("exceeded");
  await soon(() => expect(events()).toContain("denied"));
  const filter = within(panel()).getByRole("searchbox", { name: "Filter limits and events" });
  fireEvent.change(filter, { target: { value: "ROOM" } });
  expect(names()).toEqual(["sendMessageroom 7"]);
  within(panel()).getByText("1 of 2 limits are shown.");
  within(panel()).getByText("Nothing has such a text.");
  // A procedure that charges it.
  fireEvent.change(filter, { target: { value: "take" } });
  await soon(() => expect(names()).toEqual(["hourly"]));
  expect(events()).toContain("denied");
  fireEvent.change(filter, { target: { value: "" } });
  expect(names()).toEqual(["hourly", "sendMessageroom 7"]);
});

it("opens the details of a limit by a press, and remembers that while the panel is closed", async () => {
  await using page = await startPage();
  const { plugin, unmount } = await open(page);
  const button = (name: string) => limit(name).getByRole("button", { name });
  const detailsOf = (name: string) =>
    document.getElementById(button(name).getAttribute("aria-controls")!)!;
  expect(button("hourly").getAttribute("aria-expanded")).toBe("true");
  expect(detailsOf("hourly").hidden).toBe(false);
  expect(button("sendMessageroom 7").getAttribute("aria-expanded")).toBe("false");
  expect(detailsOf("sendMessageroom 7").hidden).toBe(true);
  unmount();
  render(plugin.render(document.createElement("div"), "light"));
  expect(button("hourly").getAttribute("aria-expanded")).toBe("true");
  expect(detailsOf("hourly").textContent).toContain("token bucket");
  fireEvent.click(button("hourly"));
  expect(button("hourly").getAttribute("aria-expanded")).toBe("false");
  expect(detailsOf("hourly").hidden).toBe(true);
  // What is most wanted stays.
  limit("hourly").getByText("ok");
});

it("copies all that it knows as JSON, with numbers that JSON does not have", async () => {
  await using page = await startPage();
  const writeText = vi.fn((_text: string) => Promise.resolve());
  vi.stubGlobal("navigator", { ...navigator, clipboard: { writeText } });
  await open(page);
  click(limit("hourly"), "Drain");
  click(within(panel()), "Copy as JSON");
  await soon(() => expect(within(panel()).getByRole("status").textContent).toBe("Copied as JSON."));
  const copied = JSON.parse(writeText.mock.calls[0]![0]) as {
    observers: { connection: string; limits: { item: { name: string }; predicted: number }[] }[];
    timeline: { kind: string }[];
  };
  expect(copied.observers[0]!.connection).toBe("live");
  const hourly = copied.observers[0]!.limits.find(({ item }) => item.name === "hourly");
  expect(hourly).toMatchObject({ pretence: "drained", procedures: [], counts: [1] });
  expect(hourly!.predicted).toBeLessThan(0.01);
  expect(copied.timeline.map(({ kind }) => kind)).toContain("pretended");
});

it("says that the browser does not let it copy", async () => {
  await using page = await startPage();
  await open(page);
  // jsdom has neither a clipboard nor the command.
  click(within(panel()), "Copy as JSON");
  await soon(() =>
    expect(within(panel()).getByRole("status").textContent).toBe(
      "The browser does not let this page copy.",
    ),
  );
});

it("shows no action that needs a client for an observer of the application's own", async () => {
  const observer = createFakeRateLimits();
  observer.deny("sendMessage", Date.now() + 60_000);
  await soon(() => expect(observer.inspect().answered).toBe(1));
  render(rateLimitDevtools({ observer }).render(document.createElement("div"), "light"));
  expect(within(panel()).queryByRole("button", { name: /offline/ })).toBeNull();
  fireEvent.click(limit("sendMessage").getByRole("button"));
  expect(limit("sendMessage").queryByText("Charged by")).toBeNull();
  click(limit("sendMessage"), "Refill");
  await soon(() => limit("sendMessage").getByText("A call of 0 tokens would be granted"));
});

it("has no barrier that a machine finds, with lines and events", async () => {
  await using page = await startPage();
  await open(page);
  click(limit("hourly"), "Drain");
  await soon(() => limit("hourly").getByRole("img", { name: /^Last minute: predicted/ }));
  // jsdom has no layout, so contrast is tested in a browser.
  const { violations } = await axe.run(panel(), {
    rules: { "color-contrast": { enabled: false }, region: { enabled: false } },
  });
  expect(violations).toEqual([]);
});

it("clears the timeline", async () => {
  await using page = await startPage();
  await open(page);
  click(limit("hourly"), "Drain");
  await soon(() => expect(events()).toContain("pretended"));
  click(within(panel()), "Clear");
  await soon(() => expect(events()).toContain("No call has been seen yet."));
});
