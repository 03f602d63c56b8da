/** One stream for all tabs of a browser, however tabs end. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { pass } from "../support/hand-transport.js";
import { createBrowser, type Tab, type TabOptions } from "../support/tabs.js";

afterEach(() => void vi.useRealTimers());

const ITEM = { name: "a" };
const ignore = () => {};
const SECOND = 1000;
/** How soon every tab has to be right after a change, or after the end of the leader, ms. */
const SOON = 100;

let browser: ReturnType<typeof createBrowser>;
beforeEach(() => {
  vi.useFakeTimers();
  browser = createBrowser();
});

async function openTabs(count: number, options?: TabOptions): Promise<Tab[]> {
  const tabs = Array.from({ length: count }, () => browser.openTab(options));
  for (const { observer } of tabs) observer.observe(ITEM, 1, ignore, () => true);
  await pass(SOON);
  return tabs;
}

const shown = (tabs: readonly Tab[]) => tabs.map(({ observer }) => observer.remaining(ITEM));
const leaderOf = (tabs: readonly Tab[]) =>
  tabs.find((tab) => browser.streams().some((stream) => stream.tab === tab));

describe("twenty tabs", () => {
  it("have one stream, are all live, and show a change within 100 ms", async () => {
    const tabs = await openTabs(20);
    expect(browser.streams()).toHaveLength(1);
    browser.change(ITEM, 2);
    await pass(SOON);
    expect(shown(tabs)).toEqual(Array(20).fill(2));
    expect(tabs.map(({ observer }) => observer.connection)).toEqual(Array(20).fill("live"));
    expect(tabs.map((tab) => tab.questions())).toEqual(Array(20).fill(1));
    expect(browser.opened()).toBeLessThanOrEqual(2);
  });

  const ends: Record<string, (tab: Tab) => void> = {
    closed: (tab) => tab.close(),
    killed: (tab) => tab.kill(),
    frozen: (tab) => tab.freeze(),
    "no longer interested": (tab) => tab.observer.close(),
  };
  it.each(Object.keys(ends))(
    "lose no change when the leader is %s, again and again",
    async (how) => {
      let tabs = await openTabs(20);
      for (let value = 2; tabs.length > 1; value = (value + 1) % 3) {
        const leader = leaderOf(tabs)!;
        // At any instant of the handover.
        browser.change(ITEM, (value + 1) % 3);
        await pass(tabs.length % 7);
        ends[how]!(leader);
        await pass(tabs.length % 5);
        browser.change(ITEM, value);
        tabs = tabs.filter((tab) => tab !== leader);
        await pass(SOON);
        expect(shown(tabs)).toEqual(tabs.map(() => value));
        expect(browser.streams()).toHaveLength(1);
        expect(tabs.every(({ observer }) => observer.connection === "live")).toBe(true);
      }
    },
  );

  it("take the lock from a leader that stops without a word, which lets go when it goes on", async () => {
    const tabs = await openTabs(20);
    // The order of what a thawed page does first is the browser's.
    const orders = [
      (tasks: (() => void)[]) => tasks,
      (tasks: (() => void)[]) => tasks.toReversed(),
    ];
    for (const [turn, order] of orders.entries()) {
      const stuck = leaderOf(tabs)!;
      const others = tabs.filter((tab) => tab !== stuck);
      stuck.freeze(true);
      await pass(1);
      const stale = 2 * turn;
      browser.change(ITEM, stale);
      await pass(4.5 * SECOND);
      expect(shown(others)).toEqual(Array(19).fill(stale));
      expect(leaderOf(others)).toBeDefined();
      browser.change(ITEM, 1);
      await pass(SOON);
      stuck.thaw(order);
      await pass(SOON);
      // No tab goes back to what the stuck one brought along.
      expect(shown(tabs)).toEqual(Array(20).fill(1));
      expect(browser.streams()).toHaveLength(1);
      expect(browser.streams()[0]!.tab).not.toBe(stuck);
    }
  });

  it("have one stream after each turn of tabs that come, go, freeze, thaw, hide and show", async () => {
    const random = seeded(7);
    let tabs = await openTabs(20);
    const frozen = new Set<Tab>();
    for (let turn = 0; turn < 100; turn++) {
      const any = tabs[Math.floor(random() * tabs.length)]!;
      const tab = (random() < 0.5 && leaderOf(tabs)) || any;
      const isFrozen = frozen.delete(tab);
      const what = random();
      if (isFrozen) tab.thaw();
      else if (what < 0.2) tab.setHidden(random() < 0.5);
      else if (what < 0.5) {
        tab.freeze(what < 0.35);
        frozen.add(tab);
      } else if (what < 0.8) {
        if (what < 0.65) tab.close();
        else tab.kill();
        tabs = [...tabs.filter((other) => other !== tab), ...(await openTabs(1))];
      }
      const value = turn % 3;
      browser.change(ITEM, value);
      await pass(random() < 0.2 ? 5 * SECOND : 10 * random());
      if (random() > 0.3) continue;
      // A sudden stop of the leader takes the others four seconds to notice.
      await pass(5 * SECOND);
      const awake = tabs.filter((other) => !frozen.has(other));
      const visible = awake.filter(({ page }) => page.document!.visibilityState === "visible");
      if (visible.length === 0) continue;
      expect(shown(visible)).toEqual(visible.map(() => value));
      const alive = browser.streams().filter((stream) => !frozen.has(stream.tab));
      expect(alive).toHaveLength(1);
    }
  });
});

describe("hidden tabs", () => {
  it("let go after half a minute, and are right when they are shown again", async () => {
    const tabs = await openTabs(3);
    const asked = () => tabs.reduce((sum, tab) => sum + tab.questions(), 0);
    for (const tab of tabs) tab.setHidden(true);
    await pass(29 * SECOND);
    expect(browser.streams()).toHaveLength(1);
    await pass(2 * SECOND);
    expect(browser.streams()).toEqual([]);
    const before = asked();
    browser.change(ITEM, 1);
    await pass(600 * SECOND);
    // Nothing is asked for a page that is not seen.
    expect([browser.streams(), asked()]).toEqual([[], before]);
    tabs[1]!.setHidden(false);
    await pass(SOON);
    expect(shown(tabs)).toEqual([1, 1, 1]);
    expect(leaderOf(tabs)).toBe(tabs[1]);
  });

  it("hand over to a visible one, and hear from it", async () => {
    const tabs = await openTabs(2);
    const leader = leaderOf(tabs)!;
    const other = tabs.find((tab) => tab !== leader)!;
    leader.setHidden(true);
    await pass(31 * SECOND);
    expect(leaderOf(tabs)).toBe(other);
    browser.change(ITEM, 0);
    await pass(SOON);
    expect(shown(tabs)).toEqual([0, 0]);
  });

  it("keep the stream when they are shown again in time", async () => {
    const [tab] = await openTabs(1);
    const opened = browser.opened();
    tab!.setHidden(true);
    await pass(20 * SECOND);
    tab!.setHidden(false);
    await pass(60 * SECOND);
    expect([browser.opened(), browser.streams().length]).toEqual([opened, 1]);
  });

  it("have a stream for the first half minute of a page that was opened hidden", async () => {
    const tab = browser.openTab();
    tab.setHidden(true);
    tab.observer.observe(ITEM, 1, () => {});
    await pass(SOON);
    expect(tab.observer.connection).toBe("live");
    await pass(31 * SECOND);
    expect(browser.streams()).toEqual([]);
  });
});

describe("callers", () => {
  it.each([
    ["two accounts", { caller: "ann" }, { caller: "bob" }],
    ["one that is in the text of the other", { caller: "a" }, { caller: 'a"]["' }],
    ["two routers", { path: "one" }, { path: "two" }],
  ])("of %s share nothing", async (_title, one, two) => {
    const tabs = [...(await openTabs(2, one)), ...(await openTabs(2, two))];
    tabs[0]!.observer.observe({ name: "a", key: "of one" }, 1, () => {});
    await pass(2 * SECOND);
    const streams = browser
      .streams()
      .map(({ tab, items }) => [tabs.indexOf(tab) < 2, items.length]);
    expect(new Set(streams.map(String))).toEqual(new Set(["true,2", "false,1"]));
    expect(streams).toHaveLength(2);
  });

  it.each([
    { caller: "" },
    { caller: null },
    { without: "locks" },
    { without: "channel" },
  ] as const)("have a stream for each tab with %j", async (options) => {
    const tabs = await openTabs(3, options);
    expect(browser.streams()).toHaveLength(3);
    browser.change(ITEM, 1);
    await pass(SOON);
    expect(shown(tabs)).toEqual([1, 1, 1]);
    for (const { observer } of tabs) observer.close();
    expect(browser.streams()).toEqual([]);
  });
});

describe("the limits of the stream", () => {
  const followed = () =>
    browser.streams().map(({ items }) => items.map(({ name, key }) => key ?? name).sort());

  it("are those of all tabs, and go with their tabs", async () => {
    const [first, second, third] = [browser.openTab(), browser.openTab(), browser.openTab()];
    first.observer.observe({ name: "a" }, 1, () => {});
    second.observer.observe({ name: "b" }, 1, () => {});
    await pass(SOON);
    third.observer.observe({ name: "b" }, 1, () => {});
    const stop = third.observer.observe({ name: "c", key: "team" }, 1, () => {});
    await pass(SOON);
    expect(followed()).toEqual([["a", "b", "team"]]);
    stop();
    await pass(2 * SECOND);
    expect(followed()).toEqual([["a", "b"]]);
    second.kill();
    await pass(2 * SECOND);
    expect(followed()).toEqual([["a", "b"]]);
    third.kill();
    await pass(2 * SECOND);
    expect(followed()).toEqual([["a"]]);
    first.observer.close();
    await pass(SOON);
    expect(browser.streams()).toEqual([]);
  });

  it("that a tab adds are known there at once, and keep the others live", async () => {
    const tabs = await openTabs(3);
    const changes = vi.fn();
    tabs[0]!.observer.observe(ITEM, 1, changes);
    const added = { name: "b" };
    for (const tab of tabs) {
      tab.observer.observe(added, 1, ignore, () => true);
      await pass(SOON);
    }
    browser.change(added, 1);
    await pass(SOON);
    expect(tabs.map(({ observer }) => observer.remaining(added))).toEqual([1, 1, 1]);
    expect(changes).not.toHaveBeenCalled();
  });
});

describe("an outage", () => {
  it("has every tab ask for itself, until one stream for all is back", async () => {
    const tabs = await openTabs(3);
    await pass(20 * SECOND);
    browser.setDown(true);
    await pass(SECOND);
    expect(tabs.map(({ observer }) => observer.connection)).toEqual(Array(3).fill("offline"));
    const opened = browser.opened();
    await pass(60 * SECOND);
    // One tab tries, not each.
    expect(browser.opened() - opened).toBeLessThan(15);
    browser.setDown(false);
    browser.change(ITEM, 1);
    await pass(40 * SECOND);
    expect(tabs.map(({ observer }) => observer.connection)).toEqual(Array(3).fill("live"));
    expect(shown(tabs)).toEqual([1, 1, 1]);
    expect(browser.streams()).toHaveLength(1);
  });
});

describe("what a tab is told late", () => {
  it("does not move its idea of the server's time", async () => {
    const tabs = await openTabs(2);
    const follower = tabs.find((tab) => tab !== leaderOf(tabs))!;
    const { offset } = follower.observer.inspect();
    follower.freeze(true);
    await pass(1);
    browser.change(ITEM, 0);
    await pass(2 * SECOND);
    browser.change(ITEM, 1);
    await pass(60 * SECOND);
    follower.thaw();
    await pass(SOON);
    expect(follower.observer.inspect().offset).toBe(offset);
    expect(shown(tabs)).toEqual([1, 1]);
  });
});

describe("a limit that the server refuses", () => {
  const OTHER = { name: "b" };

  it("leaves the stream to the other tabs, also if its tab does not notice", async () => {
    const tabs = await openTabs(3);
    const stuck = tabs.find((tab) => tab !== leaderOf(tabs))!;
    stuck.observer.observe(OTHER, 1, () => {});
    await pass(20 * SECOND);
    expect(browser.streams()[0]!.items).toHaveLength(2);
    stuck.freeze(true);
    await pass(1);
    browser.refuse(OTHER);
    await pass(10 * SECOND);
    const others = tabs.filter((tab) => tab !== stuck);
    expect(others.map(({ observer }) => observer.connection)).toEqual(["live", "live"]);
    browser.change(ITEM, 1);
    await pass(SOON);
    expect(shown(others)).toEqual([1, 1]);
    // A tab that looks for news, or a new one, does not end it again.
    const opened = browser.opened();
    others[0]!.setHidden(true);
    others[0]!.setHidden(false);
    const [added] = await openTabs(1);
    await pass(10 * SECOND);
    expect(browser.opened()).toBe(opened);
    expect(added!.observer.connection).toBe("live");
    // It is followed again when it may be.
    browser.allow(OTHER);
    stuck.thaw();
    await pass(60 * SECOND);
    expect(browser.streams()[0]!.items).toHaveLength(2);
  });

  it("is asked for by no other tab while there is a stream", async () => {
    const tabs = await openTabs(2);
    const asked = tabs.map((tab) => tab.questions());
    const other = browser.openTab();
    other.observer.observe(OTHER, 1, () => {});
    await pass(60 * SECOND);
    expect(tabs.map((tab) => tab.questions())).toEqual(asked);
  });
});

describe("what is kept", () => {
  it("is named after the version of the messages, so that other versions do not hear them", async () => {
    await openTabs(2);
    const { locks, channels } = await browser.kept();
    expect(locks).toHaveLength(4);
    for (const name of [...locks, ...channels]) {
      expect(name).toMatch(/^trpc-rate-limit \d+\["rateLimit","ann"\]/);
    }
  });

  it("is nothing once all observers are closed, however often they were opened", async () => {
    const tab = browser.openTab();
    // React's strict mode does so when it mounts.
    for (const ms of [0, 0, 1, 5, SECOND]) {
      const stop = tab.observer.observe(ITEM, 1, () => {});
      await pass(ms);
      stop();
      tab.observer.close();
    }
    tab.observer.observe(ITEM, 1, () => {});
    await pass(SOON);
    expect(tab.observer.connection).toBe("live");
    expect(await browser.kept()).toMatchObject({ channels: [expect.any(String)] });
    tab.observer.close();
    await pass(SOON);
    expect([await browser.kept(), browser.streams()]).toEqual([{ locks: [], channels: [] }, []]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is nothing on a page that the browser keeps, which takes part again when it is shown", async () => {
    const [tab] = await openTabs(1);
    tab!.goAway();
    await pass(SOON);
    expect([await browser.kept(), browser.streams()]).toEqual([{ locks: [], channels: [] }, []]);
    const [other] = await openTabs(1);
    browser.change(ITEM, 0);
    await pass(60 * SECOND);
    tab!.goBack();
    await pass(SOON);
    expect(shown([tab!, other!])).toEqual([0, 0]);
    expect(browser.streams()).toHaveLength(1);
    other!.close();
    browser.change(ITEM, 1);
    await pass(SOON);
    expect(shown([tab!])).toEqual([1]);
    tab!.observer.close();
    await pass(SOON);
    expect([await browser.kept(), browser.streams()]).toEqual([{ locks: [], channels: [] }, []]);
  });

  it("includes no limit of a page that the browser keeps", async () => {
    const [tab] = await openTabs(1);
    const away = browser.openTab();
    away.observer.observe({ name: "b" }, 1, () => {});
    await pass(2 * SECOND);
    expect(browser.streams()[0]!.items).toHaveLength(2);
    away.goAway();
    await pass(2 * SECOND);
    expect(browser.streams().map(({ items }) => items)).toEqual([[ITEM]]);
    away.goBack();
    await pass(SOON);
    expect(browser.streams()[0]!.items).toHaveLength(2);
    expect([tab!, away].map(({ observer }) => observer.connection)).toEqual(["live", "live"]);
  });
});

describe("debits", () => {
  it("in a tab without a stream are confirmed by the leader's, without a question", async () => {
    const tabs = await openTabs(3);
    const follower = tabs.find((tab) => tab !== leaderOf(tabs))!;
    const settle = follower.observer.debit(ITEM, 1);
    expect(follower.observer.remaining(ITEM)).toBe(2);
    await pass(10);
    browser.change(ITEM, 2);
    await pass(10);
    settle(true);
    await pass(10 * SECOND);
    expect(shown(tabs)).toEqual([2, 2, 2]);
    expect(follower.observer.inspect().limits[0]!.debits).toBe(0);
    expect(follower.questions()).toBe(1);
  });
});

/** Numbers from 0 to 1, the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
