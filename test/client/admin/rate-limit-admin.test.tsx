// @vitest-environment jsdom
/**
 * The control room against a real router. Tests that need a real layout are in
 * test/e2e/control-room.test.ts.
 */
import { fireEvent, screen, within } from "@testing-library/react";
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { type AnyTRPCRouter } from "@trpc/server";
import { StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { RateLimitAdmin } from "../../../client/admin/index.js";
import {
  createRateLimiter,
  type DecisionEvent,
  HOUR,
  memoryStore,
  MINUTE,
} from "../../../server/index.js";
import { type AdminAction } from "../../../server/trpc/index.js";
import { lookUp, press, serveAdmin, showRoom } from "../../support/control-room.js";
import { soon } from "../../support/soon.js";

interface Options {
  actions?: readonly AdminAction[];
  hashKey?: (key: string) => string;
  /** The server answers nothing until `unblock`. */
  isBlocked?: boolean;
  overrides?: boolean;
  /** The option of the limiter. */
  enabled?: boolean;
  /** How long a denial closes `send`. */
  blockFor?: number;
  strict?: boolean;
  path?: string;
}

const ALL: readonly AdminAction[] = ["view", "ban", "exempt", "raise", "plan", "clear", "reset"];

async function open({
  actions = ALL,
  hashKey,
  overrides = true,
  strict = false,
  path,
  isBlocked = false,
  enabled = true,
  ...closing
}: Options = {}) {
  const heard: DecisionEvent[] = [];
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: {
      send: { kind: "token bucket", rate: 2, period: HOUR, usage: { every: MINUTE }, ...closing },
      plan: { kind: "fixed window", rate: 5, period: "month", timeZone: "UTC", holds: true },
      jobs: { kind: "concurrency", slots: 1 },
    },
    ...(overrides && { overrides }),
    ...(hashKey && { hashKey }),
    enabled,
    logger: false,
    onDecision: (event) => void heard.push(event),
  });
  const allowed = new Set(actions);
  const { server, client } = await serveAdmin(limiter, {
    admin: {
      authorize: ({ action, key }) => allowed.has(action) && key !== "vip",
      actor: () => "ada",
    },
  });
  const unblock = isBlocked ? server.block("rateLimitAdmin.limits") : () => {};
  showRoom({ client, path }, strict ? StrictMode : undefined);
  return { limiter, heard, server, allowed, unblock };
}

const tab = (name: RegExp) => screen.findByRole("tab", { name });
const card = (name: string) => screen.findByRole("region", { name });
const rows = () => screen.queryAllByRole("row").filter((row) => row.className === "rla-row");

async function openKey(key: string) {
  await lookUp(key);
  await screen.findByRole("heading", { level: 2, name: key });
}

describe("the list of those who are limited", () => {
  it("shows a key with what it holds and how long it waits, from the press of a tab on", async () => {
    const { limiter } = await open({ strict: true });
    await soon(() => screen.getByText("Nobody is limited now."));
    await limiter.limit("send", { key: "ann", count: 2 });
    await soon(() =>
      expect(rows().map(({ textContent }) => textContent)).toEqual([
        expect.stringMatching(/^ann.*0 of 2(?:30m|29m 5\ds)$/),
      ]),
    );
    // A part of a token is there again by now. The bar shows whole ones, as the number does.
    expect(document.querySelectorAll(".rla-row .rla-bar-fill")).toHaveLength(0);
    press(await screen.findByRole("button", { name: "ann" }));
    await screen.findByRole("heading", { level: 2, name: "ann" });
    await within(await card("send")).findByText("0 of 2 left");
    expect((await card("send")).querySelector(".rla-bar-fill")).toBeNull();
    press(screen.getByRole("button", { name: "Back to send" }));
    await screen.findByRole("grid", { name: "Keys that send limits now" });
  });

  it("opens on the first limit that limits a key, and stays where one has gone", async () => {
    const { limiter, unblock } = await open({ isBlocked: true });
    await limiter.limit("plan", { key: "ann", count: 5 });
    unblock();
    await soon(() => screen.getByRole("tab", { name: /^plan/, selected: true }));
    await soon(() => expect(rows()[0]?.textContent).toMatch(/^ann.*0 of 5/));
    press(await tab(/^send/));
    await screen.findByText("Nobody is limited now.");
    expect((await tab(/^send/)).getAttribute("aria-selected")).toBe("true");
  });

  it("opens on the first limit of all where none limits a key", async () => {
    await open();
    await screen.findByText("Nobody is limited now.");
    expect((await tab(/^send/)).getAttribute("aria-selected")).toBe("true");
  });

  it("stays on the limit that it has opened on, where a later count finds another one", async () => {
    const { limiter, unblock } = await open({ isBlocked: true });
    await limiter.limit("send", { key: "ann", count: 2 });
    unblock();
    const count = (name: RegExp) =>
      within(screen.getByRole("tab", { name })).getByRole("img", { name: "1 limited now" });
    await soon(() => count(/^send/));
    await limiter.reset("send", { key: "ann" });
    await limiter.limit("plan", { key: "ann", count: 5 });
    // Then it counts at once.
    window.dispatchEvent(new Event("online"));
    await soon(() => count(/^plan/));
    expect((await tab(/^send/)).getAttribute("aria-selected")).toBe("true");
  });

  it("shows all keys, those that may go on as well", async () => {
    const { limiter } = await open();
    await limiter.limit("send", { key: "ann" });
    await screen.findByText("Nobody is limited now.");
    press(screen.getByLabelText("All"));
    await soon(() => expect(rows().map(({ textContent }) => textContent)).toEqual(["ann1 of 2ok"]));
  });

  it("shows who has no free slot", async () => {
    const { limiter } = await open();
    await using slot = await limiter.enter("jobs", { key: "ann" });
    expect(slot.ok).toBe(true);
    press(await tab(/^jobs/));
    await soon(() => expect(rows()[0]?.textContent).toMatch(/^ann.*0 of 1/));
    press(screen.getByRole("button", { name: "ann" }));
    await within(await card("jobs")).findByText("1 of 1");
  });
});

describe("the chart", () => {
  it("says how many calls were granted and denied, and which part of all that is", async () => {
    const { limiter, unblock } = await open({ isBlocked: true });
    await limiter.limit("send", { key: "ann", count: 2 });
    for (let i = 0; i < 3; i++) await limiter.limit("send", { key: "ann" });
    unblock();
    await soon(() => {
      const chart = within(screen.getByRole("region", { name: "Over time" }));
      const figures = chart.getAllByRole("definition").map(({ textContent }) => textContent);
      expect(figures).toEqual(["125%", "375%"]);
    });
  });
});

describe("a key that nobody has", () => {
  it("is told from a full bucket, and leads to the keys that are like it", async () => {
    const { limiter } = await open();
    await limiter.limit("send", { key: "ann", count: 2 });
    await lookUp(" ANN ");
    await screen.findByRole("heading", { level: 2, name: "ANN" });
    await screen.findByText(/^No limit has a row of this key/);
    const folded = screen.getByText("Limits that this key has not used lately");
    expect(folded.closest("details")!.open).toBe(false);
    press(await screen.findByRole("button", { name: "ann" }));
    await screen.findByRole("heading", { level: 2, name: "ann" });
    await within(await card("send")).findByText("0 of 2 left");
  });

  it("leads nowhere where nothing is like it", async () => {
    await open();
    await openKey("nobody");
    await screen.findByText(/^No limit has a row of this key: .* full again\.$/);
  });
});

describe("one key", () => {
  it("is banned after a question, with who did it told to the limiter, and shown at once", async () => {
    const { limiter, heard } = await open();
    await openKey("ann");
    press(await screen.findByText("Limits that this key has not used lately"));
    const actions = within(await card("send"));
    press(actions.getByRole("button", { name: "Ban" }));
    expect((await limiter.overrides.list()).length).toBe(0);
    press(
      within(actions.getByRole("form", { name: /^Deny every call/ })).getByRole("button", {
        name: "Ban",
      }),
    );
    // In the last hour of a day, it ends on another one.
    await actions.findByText(/^Done: banned until (\w{3} )?\d\d:\d\d\.$/);
    expect(actions.getByText(/^banned until/).className).toBe("rla-badge");
    expect(document.activeElement?.textContent).toBe("Ban");
    expect(heard.at(-1)).toMatchObject({ action: "ban", by: "ada", name: "send", key: "ann" });
    const [override] = await limiter.overrides.list();
    expect(override!.until! - limiter.clock()).toBeGreaterThan(HOUR - MINUTE);
    press(actions.getByRole("button", { name: "Clear the override" }));
    press(actions.getByRole("button", { name: "Clear" }));
    await actions.findByText("Done.");
    await soon(() => expect(actions.queryByText(/^banned until/)).toBeNull());
    // The button is gone, so the focus is on what it was about.
    expect(document.activeElement?.textContent).toBe("send");
  });

  it("shows a bucket that a denial has closed as empty, and until when its row says so", async () => {
    const { limiter } = await open({ blockFor: HOUR });
    await limiter.limit("send", { key: "ann", count: 2 });
    await limiter.limit("send", { key: "ann" });
    await openKey("ann");
    const shown = await card("send");
    expect(shown.textContent).toContain("0 of 2 left");
    expect(shown.querySelector(".rla-bar-fill")).toBeNull();
    expect(shown.textContent).toMatch(/may go on in 1h (29m|30m)/);
    const cells = [...shown.querySelectorAll("td")].map(({ textContent }) => textContent);
    expect(cells).toEqual(["0", "closed", expect.stringMatching(/^until .*\d\d:\d\d/)]);
  });

  it("names a ban of all keys, and does not offer to clear it for this key alone", async () => {
    const { limiter } = await open();
    await limiter.limit("send", { key: "ann" });
    await limiter.overrides.set("send", { blocked: true });
    await openKey("ann");
    const actions = within(await card("send"));
    await actions.findByText("all keys: banned");
    expect(actions.queryByRole("button", { name: "Clear the override" })).toBeNull();
  });

  it("keeps a question with what was chosen when Escape closes it", async () => {
    await open();
    await openKey("ann");
    const actions = within(await card("send"));
    press(actions.getByRole("button", { name: "Raise" }));
    const times = actions.getByLabelText("Times");
    expect(document.activeElement).toBe(times);
    fireEvent.change(times, { target: { value: "9" } });
    fireEvent.keyDown(times, { key: "Escape" });
    expect(document.activeElement?.textContent).toBe("Raise");
    press(actions.getByRole("button", { name: "Raise" }));
    expect(actions.getByLabelText<HTMLInputElement>("Times").value).toBe("9");
  });

  it("that nobody named is the shared bucket, and an action on it says that it is about all keys", async () => {
    const { limiter, heard } = await open();
    await limiter.limit("send", { count: 2 });
    press(await screen.findByRole("button", { name: "shared bucket" }));
    await screen.findByRole("heading", { level: 2, name: "Shared bucket" });
    const actions = within(await card("send"));
    press(actions.getByRole("button", { name: "Exempt" }));
    press(
      within(actions.getByRole("form", { name: /all keys\?$/ })).getByRole("button", {
        name: "Exempt",
      }),
    );
    await actions.findByText(/^Done: exempt until/);
    expect(heard.at(-1)).toMatchObject({ action: "exempt", name: "send" });
    expect(await limiter.limit("send", { key: "bob", count: 2 })).toMatchObject({ ok: true });
  });

  it("shows its holds", async () => {
    const { limiter } = await open();
    await limiter.limit("plan", {
      key: "ann",
      count: 2,
      once: "job 7",
      hold: { for: HOUR, then: "release" },
    });
    await openKey("ann");
    const plan = within(await card("plan"));
    await plan.findByText("3 of 5 left");
    await plan.findByText("Hold job 7");
  });

  it("that the server does not take is refused in place", async () => {
    await open();
    await openKey("a".repeat(300));
    expect((await screen.findByRole("alert")).textContent).toMatch(
      /^The server does not take this key: /,
    );
  });

  it("is found by what a person types, where keys are stored as hashes", async () => {
    const { limiter } = await open({ hashKey: (key) => `#${key.length}` });
    await limiter.limit("send", { key: "ann", count: 2 });
    await screen.findByText("Keys are stored as hashes. Type it as the application has it.");
    await openKey("ann");
    // Beside the list of the limited, which may name it, too.
    const stored = await screen.findByText("stored as");
    within(stored.parentElement!).getByText("#3");
    await within(await card("send")).findByText("0 of 2 left");
  });
});

describe("a caller's rights", () => {
  it("are the buttons that are there", async () => {
    await open({ actions: ["view", "reset"] });
    await openKey("ann");
    const actions = within(await card("send"));
    expect(actions.getAllByRole("button").map(({ textContent }) => textContent)).toEqual(["Reset"]);
  });

  it("may leave no button, and where limits cannot be overridden there is only the reset", async () => {
    await open({ overrides: false });
    await openKey("ann");
    const actions = within(await card("send"));
    expect(actions.getAllByRole("button").map(({ textContent }) => textContent)).toEqual(["Reset"]);
  });

  it("may end at a key, and the rest of the page goes on", async () => {
    await open();
    await openKey("vip");
    expect((await screen.findByRole("alert")).textContent).toBe("You may not see this key.");
    expect(screen.getByText("Live").closest("[data-state]")?.getAttribute("data-state")).toBe(
      "live",
    );
  });

  it("to see nothing are the designed refusal, and a right that comes is noticed", async () => {
    const { allowed } = await open({ actions: [] });
    await screen.findByRole("heading", { name: "You may not see this page" });
    expect(document.body.textContent).not.toContain("send");
    for (const action of ALL) allowed.add(action);
    press(screen.getByRole("button", { name: "Try again" }));
    await tab(/^send/);
  });

  it("that end while the page is open leave what was known, and say so", async () => {
    const { limiter, allowed } = await open();
    await limiter.limit("send", { key: "ann", count: 2 });
    await soon(() => expect(rows()).toHaveLength(1));
    allowed.clear();
    await screen.findByText(/^You may not see this any more\. This is from /);
    expect(rows()).toHaveLength(1);
  });
});

describe("a server", () => {
  it("without the router says what to do", async () => {
    await open({ path: "elsewhere" });
    await screen.findByText(/^The application's router has nothing at “elsewhere”\./);
  });

  it("that does not answer leaves what was known, and the page goes on when it is back", async () => {
    const { limiter, server } = await open();
    await limiter.limit("send", { key: "ann", count: 2 });
    await soon(() => expect(rows()).toHaveLength(1));
    await server.kill();
    await screen.findByText(/^The server does not answer\. This is from /);
    expect(rows()).toHaveLength(1);
    await server.restart();
    await screen.findByText("Live");
  });

  it("that does not answer at first is asked again by a press", async () => {
    const { unblock } = await open({ isBlocked: true });
    await screen.findByRole("heading", { name: "The server does not answer" });
    unblock();
    press(screen.getByRole("button", { name: "Try again" }));
    await tab(/^send/);
  });
});

describe("markup of a server", () => {
  it("has no inline style, no style sheet and no time", () => {
    const client = createTRPCClient<AnyTRPCRouter>({
      links: [httpBatchLink({ url: "http://localhost" })],
    });
    const html = renderToString(<RateLimitAdmin client={client} className="wide" />);
    expect(html).toContain('class="rate-limit-admin wide"');
    expect(html).toContain("Asking for the limits…");
    expect(html).not.toMatch(/style/);
  });
});

it.each([true, false])(
  "says whether the limits are switched off, where enabled is %s",
  async (enabled) => {
    await open({ enabled });
    await soon(() => screen.getByText("Nobody is limited now."));
    const note = screen.queryByText("All limits are switched off: every call passes.");
    expect(note === null).toBe(enabled);
  },
);
