/**
 * Twenty tabs of one visitor on the example. The tabs share one stream, also while tabs close, freeze or
 * crash.
 */
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createApp } from "../../example-app/shared/server/app.js";
import { openDatabase } from "../../example-app/shared/server/database.js";
import { launchChromium, launchWindow } from "../support/chromium.js";

const TABS = 20;
/** The time-out on a busy machine. On a quiet machine, the printed times are below 100 ms. */
const GENEROUS = 8000;

let browser: Browser;
let app: Awaited<ReturnType<typeof startApp>>;

beforeAll(async () => {
  [browser, app] = await Promise.all([launchChromium(), startApp()]);
});
afterAll(async () => {
  await browser.close();
  await app[Symbol.asyncDispose]();
});

/** The example in this process, which counts its streams. */
async function startApp() {
  const folder = await mkdtemp(join(tmpdir(), "tabs-"));
  const prisma = await openDatabase(`file:${join(folder, "demo.db")}`);
  const server = await createApp(prisma);
  const streams = { open: 0, most: 0, opened: 0 };
  let answeredAt = NaN;
  server.on("request", ({ url }, response) => {
    if (url!.startsWith("/trpc/logIn.attempt")) {
      response.on("finish", () => (answeredAt = Date.now()));
    }
    if (!url!.startsWith("/trpc/rateLimit.watch")) return;
    streams.opened++;
    streams.most = Math.max(streams.most, ++streams.open);
    response.on("close", () => streams.open--);
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    streams,
    /** When the last attempt to log in was answered, epoch ms. */
    answeredAt: () => answeredAt,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await prisma.$disconnect();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const eventually = <TResult>(check: () => TResult) =>
  vi.waitFor(check, { timeout: GENEROUS, interval: 20 });

/** The texts that a page has shown of its attempts, each with its time, epoch ms. */
type Shown = [at: number, text: string][];

/** Runs in the page. Playwright's own waiting needs frames, which a hidden page does not render. */
function recordAttempts(): void {
  const shown: Shown = [];
  Object.assign(globalThis, { shown });
  new MutationObserver(() => {
    const text = document.querySelector(".attempts")?.textContent;
    if (text && shown.at(-1)?.[1] !== text) shown.push([Date.now(), text]);
  }).observe(document, { subtree: true, childList: true, characterData: true });
}

const shownOn = (page: Page) =>
  page.evaluate(() => (globalThis as unknown as { shown: Shown }).shown);
const connectionOf = (page: Page) =>
  page.evaluate(() => document.querySelector<HTMLElement>(".connection")?.dataset["state"]);

class Tab {
  /** When the tab opened its last stream, epoch ms. */
  openedAt = 0;
  isCrashed = false;

  constructor(readonly page: Page) {
    page.on("crash", () => (this.isCrashed = true));
    page.on("request", (request) => {
      if (request.url().includes("/trpc/rateLimit.watch")) this.openedAt = Date.now();
    });
  }

  /** Opens a part of the example that has no stream of its own, unlike the chat. */
  static async open(visitor: BrowserContext): Promise<Tab> {
    const tab = new Tab(await visitor.newPage());
    await tab.page.addInitScript(recordAttempts);
    await tab.page.goto(`${app.url}/#log-in`);
    await eventually(async () => {
      const isReady = (await connectionOf(tab.page)) === "live" && (await shownOn(tab.page)).length;
      if (!isReady) throw new Error("the tab is not live");
    });
    return tab;
  }

  async setState(state: "frozen" | "active"): Promise<void> {
    const session = await this.page.context().newCDPSession(this.page);
    await session.send("Page.setWebLifecycleState", { state });
  }

  async crash(): Promise<void> {
    const session = await this.page.context().newCDPSession(this.page);
    // This command never gets an answer.
    void session.send("Page.crash").catch(() => {});
    await eventually(() => {
      if (!this.isCrashed) throw new Error("the tab has not crashed");
    });
  }
}

async function openTabs(visitor: BrowserContext, count: number): Promise<Tab[]> {
  const tabs: Tab[] = [];
  while (tabs.length < count) tabs.push(await Tab.open(visitor));
  await eventually(() => expect(app.streams.open).toBe(1));
  return tabs;
}

const leaderOf = (tabs: readonly Tab[]) => tabs.reduce((a, b) => (a.openedAt > b.openedAt ? a : b));

const without = (tabs: readonly Tab[], some: readonly Tab[]) =>
  tabs.filter((tab) => !some.includes(tab));

/**
 * Tries to log in outside of all tabs. A wrong password takes one attempt, before the server checks the
 * password. The right password gives all attempts back, just before the server answers. Returns how long
 * the slowest tab took to show the change after that answer, ms.
 */
async function changeAndMeasure(visitor: BrowserContext, tabs: readonly Tab[], isRight: boolean) {
  const data = { account: "demo", password: isRight ? "open sesame" : "wrong" };
  await visitor.request.post(`${app.url}/trpc/logIn.attempt`, { data });
  const text = `${isRight ? 5 : 4} of 5 attempts left`;
  const times = tabs.map(({ page }) =>
    eventually(async () => {
      const last = (await shownOn(page)).at(-1)!;
      expect(last[1]).toBe(text);
      return last[0];
    }),
  );
  return Math.max(...(await Promise.all(times))) - app.answeredAt();
}

const ENDS = {
  closed: (tab) => tab.page.close(),
  killed: (tab) => tab.crash(),
  /** The tab stops without a message, and for longer than the other tabs wait. */
  async busy(tab) {
    const work = () => {
      const end = Date.now() + 10_000;
      while (Date.now() < end);
    };
    void tab.page.evaluate(work).catch(() => {});
  },
} as const satisfies Record<string, (tab: Tab) => Promise<unknown>>;

/** Ends the leader twice in this way. Returns the tabs that are left, and the times. */
async function endLeader(visitor: BrowserContext, before: readonly Tab[], how: keyof typeof ENDS) {
  let tabs = before;
  const times: number[] = [];
  for (let turn = 0; turn < 2; turn++) {
    await changeAndMeasure(visitor, tabs, false);
    const leader = leaderOf(tabs);
    await ENDS[how](leader);
    // A process may have several tabs, and all of them crash with it.
    tabs = tabs.filter((tab) => tab !== leader && !tab.isCrashed);
    times.push(await changeAndMeasure(visitor, tabs, true));
    // Another tab has opened the stream. Its stream is the only one now.
    await eventually(() => {
      expect(leaderOf(tabs).openedAt).toBeGreaterThan(leader.openedAt);
      expect(app.streams.open).toBe(1);
    });
  }
  for (const { page } of tabs) {
    await eventually(async () => expect(await connectionOf(page)).toBe("live"));
  }
  console.log(`leader ${how}: slowest of ${tabs.length} tabs after ${times.join(" and ")} ms`);
  return tabs;
}

describe("twenty tabs of one visitor", () => {
  it("share one stream, and miss nothing when the tab that holds it ends", async () => {
    await using visitor = await browser.newContext();
    let tabs: readonly Tab[] = await openTabs(visitor, TABS);
    const { open, most, opened } = app.streams;
    console.log(`${TABS} tabs: ${open} stream open, ${most} at most, ${opened} opened in all`);
    await changeAndMeasure(visitor, tabs, false);
    const time = await changeAndMeasure(visitor, tabs, true);
    console.log(`a change: slowest of ${TABS} tabs after ${time} ms`);
    tabs = await endLeader(visitor, tabs, "closed");
    await endLeader(visitor, tabs, "killed");
  });

  it("share one stream in one window, and miss nothing when the browser freezes the tab", async () => {
    await using window = await launchWindow();
    const visitor = window.context;
    const tabs = await openTabs(visitor, TABS);
    const frozen: Tab[] = [];
    const times: number[] = [];
    while (frozen.length < 2) {
      await changeAndMeasure(visitor, without(tabs, frozen), false);
      const leader = leaderOf(tabs);
      const others = without(tabs, [...frozen, leader]);
      // Browsers freeze hidden tabs only.
      await others.at(-1)!.page.bringToFront();
      await leader.setState("frozen");
      frozen.push(leader);
      times.push(await changeAndMeasure(visitor, others, true));
      await eventually(() => expect(leaderOf(others).openedAt).toBeGreaterThan(leader.openedAt));
    }
    console.log(`leader frozen: slowest tab after ${times.join(" and ")} ms`);
    // A tab closes its stream when it is frozen. Chromium closes the connection when the tab thaws.
    expect(app.streams.open).toBeLessThanOrEqual(3);
    const { openedAt } = leaderOf(tabs);
    for (const tab of frozen) await tab.setState("active");
    await eventually(() => expect(app.streams.open).toBe(1));
    // All tabs hear of the next change, and no thawed tab takes the stream back.
    await changeAndMeasure(visitor, tabs, false);
    expect([app.streams.open, leaderOf(tabs).openedAt]).toEqual([1, openedAt]);
  });

  it("hold no stream in one window while none of them is seen, and are right when one is", async () => {
    await using window = await launchWindow();
    const visitor = window.context;
    const tabs = await openTabs(visitor, 3);
    const other = await visitor.newPage();
    await eventually(() => expect(app.streams.open).toBe(1));
    await vi.waitFor(() => expect(app.streams.open).toBe(0), { timeout: 45_000, interval: 100 });
    await visitor.request.post(`${app.url}/trpc/logIn.attempt`, {
      data: { account: "demo", password: "wrong" },
    });
    await tabs[1]!.page.bringToFront();
    await eventually(async () => {
      for (const { page } of tabs) expect((await shownOn(page)).at(-1)![1]).toMatch(/^4 /);
    });
    expect([app.streams.open, leaderOf(tabs)]).toEqual([1, tabs[1]]);
    await other.close();
  });
});

describe("a leader that stops without a word", () => {
  it("loses the stream to another tab, and lets go of its own", async () => {
    await using visitor = await browser.newContext();
    const tabs = await openTabs(visitor, 3);
    const leader = leaderOf(tabs);
    const others = without(tabs, [leader]);
    await changeAndMeasure(visitor, tabs, false);
    await ENDS.busy(leader);
    console.log(`leader busy: after ${await changeAndMeasure(visitor, others, true)} ms`);
    // When the busy tab goes on, it closes its stream.
    await leader.page.evaluate("0");
    await eventually(() => expect(app.streams.open).toBe(1));
    expect(leaderOf(tabs)).not.toBe(leader);
    await changeAndMeasure(visitor, tabs, false);
  });
});

describe("two visitors in two browsers", () => {
  it("have a stream each, and do not see each other's attempts", async () => {
    await using one = await browser.newContext();
    await using two = await browser.newContext();
    const [first] = await openTabs(one, 1);
    const second = await Tab.open(two);
    // When a leader opens its stream anew, it has two streams for a moment.
    await eventually(() => expect(app.streams.open).toBe(2));
    await changeAndMeasure(one, [first!], false);
    expect((await shownOn(second.page)).at(-1)![1]).toBe("5 of 5 attempts left");
  });
});
