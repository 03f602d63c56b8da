// @vitest-environment jsdom
/** What the control room shows is in the address of the page, against a real router. */
import { act, fireEvent, render, screen, within } from "@testing-library/react";
import { StrictMode } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { RateLimitAdmin } from "../../../client/admin/index.js";
import { createRateLimiter, HOUR, memoryStore, MINUTE } from "../../../server/index.js";
import { press, serveAdmin } from "../../support/control-room.js";
import { soon } from "../../support/soon.js";

beforeEach(() => history.replaceState(null, "", "/admin"));
afterEach(() => history.replaceState(null, "", "/"));

async function start() {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: {
      send: { kind: "token bucket", rate: 2, period: HOUR, usage: { every: MINUTE } },
      plan: { kind: "fixed window", rate: 5, period: "month", timeZone: "UTC" },
    },
  });
  const { server, client } = await serveAdmin(limiter);
  const room = (address?: boolean) => (
    <RateLimitAdmin client={client} locale="en-GB" refreshInterval={250} address={address} />
  );
  return { limiter, room, server };
}

async function open(search = "", address?: boolean) {
  history.replaceState(null, "", `/admin${search}`);
  const { limiter, room } = await start();
  const { unmount } = render(<StrictMode>{room(address)}</StrictMode>);
  onTestFinished(unmount);
  return limiter;
}

const heading = (name: string) => soon(() => screen.getByRole("heading", { level: 2, name }));
const radio = (name: string) => screen.getByLabelText<HTMLInputElement>(name);
const back = () => act(() => history.back());

describe("an address", () => {
  it("opens the limit, the keys and the range that it names", async () => {
    const limiter = await open("?rla-limit=plan&rla-tab=all&rla-range=week&q=1");
    await limiter.limit("send", { key: "ann", count: 2 });
    await soon(() => screen.getByRole("tab", { name: /^plan/, selected: true }));
    expect(radio("All").checked).toBe(true);
    await soon(() => expect(radio("Week").checked).toBe(true));
    expect(location.search).toContain("q=1");
  });

  it("opens a key, and two dates in the reader's time zone", async () => {
    const from = new Date(2020, 3, 3, 10, 5).getTime();
    await open(`?rla-limit=send&rla-key=typed:ann&rla-range=${from}-${from + HOUR}`);
    await heading("ann");
    press(screen.getByRole("button", { name: "Back to send" }));
    const begin = await soon(() => screen.getByLabelText<HTMLInputElement>("From"));
    expect(begin.value).toBe("2020-04-03T10:05");
    fireEvent.change(begin, { target: { value: "2020-04-03T09:00" } });
    await soon(() => expect(location.search).toContain(`${from - HOUR - 5 * MINUTE}-`));
    fireEvent.blur(begin);
    press(screen.getByRole("button", { name: "Earlier" }));
    await soon(() => expect(begin.value).toBe("2020-04-03T06:55"));
  });

  it.each([
    "?rla-view=nothing&rla-limit=__proto__&rla-range=9-1&rla-tab=%00",
    "?rla-view=<script>&rla-limit=%E0%A4%A&rla-range=1e9-NaN&rla-key=typed",
    `?rla-range=${"9".repeat(16)}-${"9".repeat(16)}&rla-key=typed:${"x".repeat(5000)}`,
  ])("that is malformed opens the room as it opens without, %#", async (search) => {
    await open(search);
    await soon(() => screen.getByText("Nobody is limited now."));
    await soon(() => screen.getByRole("tab", { name: /^send/, selected: true }));
    await soon(() => expect(radio("Hour").checked).toBe(true));
  });
});

describe("a step back", () => {
  it("leads from a key to the limit, and from there to the limit before, and forward again", async () => {
    // Without a limit in the address, the first count would choose the one that limits a key.
    const limiter = await open("?rla-limit=send");
    await limiter.limit("plan", { key: "ann", count: 5 });
    await soon(() => screen.getByRole("tab", { name: /^send/, selected: true }));
    press(screen.getByRole("tab", { name: /^plan/ }));
    const ann = await soon(() => screen.getByRole("button", { name: "ann" }));
    act(() => ann.focus());
    press(ann);
    await heading("ann");
    expect(location.search).toBe("?rla-limit=plan&rla-key=stored%3Aann");
    back();
    await heading("plan");
    await soon(() => expect(document.activeElement?.textContent).toBe("ann"));
    back();
    await heading("send");
    act(() => history.forward());
    await heading("plan");
  });

  it("is none for the other keys and another range", async () => {
    await open("?rla-limit=send");
    const before = history.length;
    press(await soon(() => screen.getByLabelText("All")));
    press(await soon(() => screen.getByLabelText("Day")));
    await soon(() => expect(location.search).toBe("?rla-limit=send&rla-range=day&rla-tab=all"));
    expect(history.length).toBe(before);
  });
});

describe("the address of a page", () => {
  it("loses the room's parameters with the room", async () => {
    history.replaceState(null, "", "/admin?q=1");
    const { room } = await start();
    const { unmount } = render(room());
    await soon(() => expect(location.search).toBe("?q=1&rla-limit=send"));
    unmount();
    await soon(() => expect(location.search).toBe("?q=1"));
  });

  it("is left alone where the application says so", async () => {
    await open("?rla-view=who&rla-limit=plan", false);
    await soon(() => screen.getByRole("tab", { name: /^send/, selected: true }));
    press(screen.getByRole("button", { name: "Who" }));
    await heading("Who");
    expect(location.search).toBe("?rla-view=who&rla-limit=plan");
  });

  it("does not change what a server renders, and so no hydration fails", async () => {
    history.replaceState(null, "", "/admin?rla-limit=plan&rla-key=typed:ann");
    const { room } = await start();
    const host = document.createElement("div");
    document.body.append(host);
    host.innerHTML = renderToString(room());
    const onRecoverableError = vi.fn();
    const root = await act(() => hydrateRoot(host, room(), { onRecoverableError }));
    onTestFinished(() => {
      act(() => root.unmount());
      host.remove();
    });
    await heading("ann");
    within(host).getByRole("button", { name: "Back to plan" });
    expect(onRecoverableError).not.toHaveBeenCalled();
  });
});

describe("the views", () => {
  it("are links that can be opened elsewhere, and a plain press stays in the page", async () => {
    await open("?q=1&rla-range=day");
    const who = await soon(() => screen.getByRole("link", { name: "Who" }));
    expect(who.getAttribute("href")).toMatch(/\/admin\?q=1&rla-view=who&rla-range=day$/);
    expect(fireEvent.click(who, { ctrlKey: true })).toBe(true);
    expect(screen.getByRole("link", { name: "Limits" }).getAttribute("aria-current")).toBe("page");
    expect(press(who)).toBe(false);
    await heading("Who");
    expect(who.getAttribute("aria-current")).toBe("page");
    press(screen.getByRole("link", { name: "Limits" }));
    await heading("send");
  });
});

describe("a limit that is chosen", () => {
  it("stays, also while it is not known yet which limit limits a key", async () => {
    const { limiter, room, server } = await start();
    await limiter.limit("send", { key: "ann", count: 2 });
    const unblock = server.block("rateLimitAdmin.list");
    const { unmount } = render(room());
    onTestFinished(unmount);
    const plan = await soon(() => screen.getByRole("tab", { name: /^plan/ }));
    // The question is asked, and its answer is on its way when the limit is chosen.
    unblock();
    window.dispatchEvent(new Event("online"));
    press(plan);
    await soon(() => screen.getByRole("img", { name: "1 limited now" }));
    expect(plan.getAttribute("aria-selected")).toBe("true");
  });
});

describe("the number beside a limit", () => {
  it("is the number of the keys in its list, from the same answer", async () => {
    const limiter = await open();
    await soon(() => screen.getByText("Nobody is limited now."));
    // The tabs count every ten seconds, and the list every quarter of a second.
    for (const key of ["ann", "bob"]) await limiter.limit("send", { key, count: 2 });
    await soon(() => screen.getByText("2 keys limited"));
    within(screen.getByRole("tab", { name: /^send/ })).getByRole("img", { name: "2 limited now" });
  });
});

describe("the latest denials", () => {
  it("are one stop of Tab, with arrow keys in between", async () => {
    const limiter = await open();
    const deny = async (key: string) => {
      await limiter.limit("send", { key, count: 2 });
      await limiter.limit("send", { key });
    };
    for (const key of ["ann", "bob", "cleo"]) await deny(key);
    const denials = within(
      await soon(() => screen.getByRole("region", { name: "Latest denials" })),
    );
    await soon(() => expect(denials.getAllByRole("button")).toHaveLength(3));
    const buttons = denials.getAllByRole("button");
    const stops = () => buttons.map(({ tabIndex }) => tabIndex);
    expect(stops()).toEqual([0, -1, -1]);
    act(() => buttons[0]!.focus());
    fireEvent.keyDown(buttons[0]!, { key: "ArrowDown" });
    expect(document.activeElement).toBe(buttons[1]);
    fireEvent.keyDown(buttons[1]!, { key: "End" });
    expect(document.activeElement).toBe(buttons[2]);
    expect(stops()).toEqual([-1, -1, 0]);
    // A new denial comes first, and the focus stays where it is.
    await deny("dora");
    await soon(() => expect(denials.getAllByRole("button")).toHaveLength(4));
    expect(document.activeElement).toBe(buttons[2]);
    expect(stops()).toEqual([-1, -1, 0]);
  });
});
