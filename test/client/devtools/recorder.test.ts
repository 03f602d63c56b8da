/** The devtools record a page's calls, with a real server, link and observer. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { rateLimitLink, type RateLimitLinkOptions } from "../../../client/index.js";
import { Recorder } from "../../../client/devtools/recorder.js";
import type { EventKind } from "../../../client/devtools/timeline.js";
import { observersOf } from "../../../client/transport.js";
import { untypedOf } from "../../../client/trpc-clients.js";
import { HOUR, type RateLimitError, SECOND } from "../../../server/index.js";
import { startLimitServer } from "../../support/limit-server.js";
import { soon } from "../../support/soon.js";

const LIMITS = {
  hourly: { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 },
  quick: { kind: "token bucket", rate: 1, period: SECOND, capacity: 1 },
  jobs: { kind: "token bucket", rate: 1, period: HOUR, capacity: 9, holds: true },
} as const;
type Name = keyof typeof LIMITS;

/** @param link the options of the link; `null` for a client without one. */
async function startPage(link: RateLimitLinkOptions | null, name: Name = "hourly") {
  const app = await startLimitServer(LIMITS);
  onTestFinished(() => app[Symbol.asyncDispose]());
  const client = app.server.connect({ links: link ? [rateLimitLink(link)] : [] });
  const untyped = untypedOf(client);
  const recorder = new Recorder(observersOf(untyped.runtime), untyped);
  const observer = app.observe(client);
  observer.observe({ name }, 1, () => {});
  await soon(() => expect(observer.connection).toBe("live"));
  recorder.timeline.clear();
  return {
    ...app,
    client,
    observer,
    recorder,
    take: (count: number, fails: boolean = false) => client.take.mutate({ name, count, fails }),
    /** The latest event of a kind, as one text. */
    last(kind: EventKind) {
      const event = recorder.timeline.events.find((one) => one.kind === kind);
      if (!event) return undefined;
      const { item, count, path, text } = event;
      return `${item.name} ${count} ${path}: ${text}`;
    },
    kinds: () => recorder.timeline.events.map(({ kind }) => kind).reverse(),
    procedures: () => recorder.procedures.of(name),
  };
}

describe("calls of a client whose link says what they take", () => {
  const limits = { take: { name: "hourly", count: 2 } } as const;

  it("are granted and denied, with their procedure and count", async () => {
    const page = await startPage({ limits });
    await page.take(2);
    expect(page.last("granted")).toBe("hourly 2 take: ");
    expect(page.procedures()).toEqual([{ path: "take", evidence: "link" }]);
    await expect(page.take(2)).rejects.toThrow("exceeded");
    expect(page.last("denied")).toMatch(/^hourly 2 take: try again in (1 h$|59 min)/);
    expect(page.procedures()).toEqual([{ path: "take", evidence: "denial" }]);
    // Each is told once, although the link, the observer and the client have seen it.
    expect(page.kinds().filter((kind) => kind !== "corrected")).toEqual(["granted", "denied"]);
  });

  it("that the page denies by itself are said not to have been sent", async () => {
    const page = await startPage({ limits, whenLimited: "reject" });
    await page.take(2);
    await soon(() => expect(page.observer.inspect().limits[0]!.debits).toBe(0));
    const before = page.server.requests("take");
    await expect(page.take(2)).rejects.toThrow("exceeded");
    expect(page.last("denied")).toMatch(
      /^hourly 2 take: by the page, which did not send it: try again in /,
    );
    expect(page.server.requests("take")).toBe(before);
  });

  it("that wait in the page are waiting, and granted after that time", async () => {
    // Long enough that the call is not sent a few ms too early.
    const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
    onTestFinished(() => random.mockRestore());
    const page = await startPage({ limits: { take: "quick" }, whenLimited: "wait" }, "quick");
    await page.take(1);
    const second = page.take(1);
    expect(page.last("waiting")).toBe("quick 1 take: waits in the page");
    await second;
    expect(page.last("granted")).toMatch(/^quick 1 take: after .*s in the page$/);
    expect(page.kinds().filter((kind) => kind !== "corrected")).toEqual([
      "granted",
      "waiting",
      "granted",
    ]);
  });

  it("that fail later were granted all the same", async () => {
    const page = await startPage({ limits });
    await expect(page.take(2, true)).rejects.toThrow("not about limits");
    expect(page.last("granted")).toBe("hourly 2 take: the call failed later (CONFLICT)");
  });

  it("without an answer were charged or not", async () => {
    const page = await startPage({ limits });
    await page.server.kill();
    await expect(page.take(2)).rejects.toThrow("fetch failed");
    expect(page.last("failed")).toBe("hourly 2 take: no answer came, so it may have been charged");
  });
});

describe("calls of which only the answers are known", () => {
  it("show their limit by a denial, and then pass for an unknown count", async () => {
    const page = await startPage(null);
    await page.take(1);
    // Nothing says which limit that was.
    expect(page.last("granted")).toBeUndefined();
    await expect(page.take(3)).rejects.toThrow("exceeded");
    expect(page.last("denied")).toMatch(/^hourly undefined take: try again in /);
    await page.take(1);
    expect(page.last("granted")).toBe("hourly undefined take: ");
  });

  it("may be denied by several limits, each of which is told", async () => {
    const page = await startPage(null);
    await page.limiter.limit("quick");
    await page.limiter.limit("hourly", { count: 3 });
    await expect(page.client.takeAll.mutate(["hourly", "quick"])).rejects.toThrow("exceeded");
    const denied = page.recorder.timeline.events.filter(({ kind }) => kind === "denied");
    expect(denied.map(({ item }) => item.name).sort()).toEqual(["hourly", "quick"]);
  });
});

describe("debits of an observer", () => {
  it("are for a mutation that is sent in the same turn", async () => {
    const page = await startPage(null);
    const settle = page.observer.debit({ name: "hourly" }, 2);
    await page.take(2);
    settle(true);
    expect(page.last("granted")).toBe("hourly 2 take: ");
    expect(page.kinds()).toEqual(["granted"]);
    expect(page.procedures()).toEqual([{ path: "take", evidence: "hook" }]);
  });

  it("of two limits are for no call that could be of either", async () => {
    const page = await startPage(null);
    const settles = [
      page.observer.debit({ name: "hourly" }, 2),
      page.observer.debit({ name: "hourly", key: "b" }, 1),
    ];
    await page.take(2);
    expect(page.procedures()).toEqual([]);
    for (const settle of settles) settle(true);
    const granted = page.recorder.timeline.events.map(({ count, path }) => [count, path]);
    expect(granted).toEqual([
      [1, undefined],
      [2, undefined],
    ]);
  });

  it("stand for calls that no link of the client sees", async () => {
    const page = await startPage(null);
    const later = () => new Promise((resolve) => setTimeout(resolve));
    const settle = page.observer.debit({ name: "hourly" }, 2);
    await later();
    settle(true);
    expect(page.last("granted")).toBe("hourly 2 undefined: ");
    page.observer.debit({ name: "hourly" }, 1)(false);
    await later();
    expect(page.last("failed")).toBe(
      "hourly 1 undefined: no answer came, so the page counts the tokens as not taken",
    );
  });

  it("that were given back because of a denial are told as that denial alone", async () => {
    const page = await startPage(null);
    await page.limiter.limit("hourly", { count: 3 });
    const { data } = (await page.limiter
      .limit("hourly", { throws: true })
      .catch((error: unknown) => error)) as RateLimitError;
    page.observer.debit({ name: "hourly" }, 1)(false);
    page.observer.recordDenial({ name: "hourly" }, data.rateLimit, 1);
    page.observer.recordDenial({ name: "hourly" }, data.rateLimit, 1);
    await new Promise((resolve) => setTimeout(resolve));
    expect(page.kinds().filter((kind) => kind !== "corrected")).toEqual(["denied"]);
  });
});

describe("the server's word", () => {
  it("corrects a page that did not know of other callers", async () => {
    const page = await startPage(null);
    await page.limiter.limit("hourly", { count: 2 });
    await soon(() =>
      expect(page.last("corrected")).toBe(
        "hourly undefined undefined: 1 of 3, where the page predicted 3",
      ),
    );
  });

  it("is no correction where the page has predicted it", async () => {
    const page = await startPage({ limits: { take: { name: "hourly", count: 2 } } });
    await page.take(2);
    await soon(() => expect(page.observer.inspect().limits[0]!.debits).toBe(0));
    expect(page.kinds()).toEqual(["granted"]);
  });

  it("tells of tokens that calls hold, until they are settled", async () => {
    const page = await startPage(null, "jobs");
    const hold = { for: HOUR, then: "release" } as const;
    await page.limiter.limit("jobs", { count: 4, once: "x", hold });
    await soon(() =>
      expect(page.last("held")).toBe("jobs undefined undefined: calls hold 4 tokens (before: 0)"),
    );
    await page.limiter.release("jobs", { once: "x" });
    await soon(() =>
      expect(page.last("held")).toBe("jobs undefined undefined: calls hold no tokens any more"),
    );
  });
});
