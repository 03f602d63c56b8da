/** A page learns from the denial of a call on several limits. Uses fake timers. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isRateLimitError } from "../../client/index.js";
import { createKnownDenials } from "../../client/known-denials.js";
import { createHeldCalls } from "../../client/react/held-calls.js";
import { sendLimited } from "../../client/react/send-limited.js";
import { RateLimitError, type RateLimitErrorData } from "../../core/errors.js";
import { deny, startLinked } from "../support/hand-link.js";
import { pass, snapshotOf, startByHand } from "../support/hand-transport.js";

const config = { kind: "token bucket", rate: 1, period: 1000 } as const;
const hourly = { kind: "fixed window", rate: 1, period: 3_600_000, start: 0 } as const;
const [minute, hour, day] = [{ name: "minute" }, { name: "hour" }, { name: "day" }];
const NOW = 3_600_000_000;

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

/** `minute` and `hour` are exhausted. `hour` has the longer wait. */
function denial(denials?: unknown): RateLimitErrorData {
  const facts = { ...hour, retryAfter: 3_600_000, value: 0, config: hourly };
  const both = [{ ...minute, retryAfter: 1000, value: 0, config }, facts];
  return {
    kind: "RateLimited",
    ...facts,
    now: Date.now(),
    denials: (denials ?? both) as RateLimitErrorData["denials"],
  };
}

/** What a server of another version, or one that lies, could send. */
const MALFORMED: [title: string, denials: unknown][] = [
  ["null", null],
  ["a number", 5],
  ["a string", "minute"],
  ["an object", { length: 1, 0: minute }],
  ["entries of null", [null, undefined]],
  ["entries of other types", [5, "minute", true, []]],
  ["an empty entry", [{}]],
  ["a name alone", [minute]],
  ["no name", [{ retryAfter: 1000, value: 0, config }]],
  ["a config of null", [{ ...minute, retryAfter: 1000, value: 0, config: null }]],
  ["a config without numbers", [{ ...minute, retryAfter: 1000, value: 0, config: {} }]],
  ["a config of a string", [{ ...minute, retryAfter: 1000, value: 0, config: "no" }]],
  ["no wait", [{ ...minute, value: 0, config }]],
  ["a wait of text", [{ ...minute, value: 0, config, retryAfter: "soon" }]],
  ["no period", [{ ...minute, retryAfter: 1000, value: 0, config: { ...hourly, period: null } }]],
  [
    "a month that starts never",
    [{ ...minute, retryAfter: 1000, value: 0, config: { ...hourly, period: "month", start: {} } }],
  ],
  ["a rate of text", [{ ...minute, retryAfter: 1000, value: 0, config: { ...config, rate: "" } }]],
];

/** An observer of all three limits, which have tokens as far as it knows. */
async function startObserving() {
  const { observer, requests } = startByHand({ isStreamless: true, pollInterval: 1e9 });
  for (const item of [minute, hour, day]) observer.observe(item, 1, () => {});
  await pass(1);
  for (const request of requests.slice()) request.answer(1, { config });
  await pass(1);
  const waits = () =>
    [minute, hour, day].map((item) => {
      const status = observer.status(item, 1);
      return status?.ok === false ? status.retryAt - Date.now() : 0;
    });
  expect(waits()).toEqual([0, 0, 0]);
  return { observer, requests, waits };
}

describe("an observer", () => {
  it("shows the wait of each exhausted limit at once, and asks for these", async () => {
    const { observer, requests, waits } = await startObserving();
    const data = denial();
    observer.recordDenial(hour, data);
    expect(waits()).toEqual([1000, 3_600_000, 0]);
    await pass(1);
    expect(requests.map(({ name }) => name).sort()).toEqual(["hour", "minute"]);
    // A second report of the same denial changes nothing.
    observer.receive(snapshotOf("minute", 1, { config }));
    observer.recordDenial(minute, data);
    expect(waits()[0]).toBe(0);
  });

  it("learns from a link and then from a hook, if only the hook knows the key", async () => {
    const { observer, requests } = startByHand({ isStreamless: true, pollInterval: 1e9 });
    const keyed = { ...minute, key: "k" };
    for (const item of [hour, keyed]) observer.observe(item, 1, () => {});
    await pass(1);
    for (const request of requests.slice()) request.answer(1, { config });
    await pass(1);
    const isOk = () => [hour, keyed].map((item) => observer.status(item, 1)?.ok);
    const data = denial();
    observer.recordDenial(hour, data);
    expect(isOk()).toEqual([false, true]);
    observer.recordDenial(keyed, data);
    expect(isOk()).toEqual([false, false]);
  });

  it.each(MALFORMED)("ignores denials with %s", async (_, denials) => {
    const { observer, waits } = await startObserving();
    observer.recordDenial(hour, { ...denial(), denials: denials as never });
    expect(waits()).toEqual([0, 3_600_000, 0]);
  });
});

describe("a link", () => {
  const limits = { take: "minute" } as never;

  it("holds calls of each exhausted limit for as long as that one is", async () => {
    const { sent, take, inputs } = startLinked({ whenLimited: "wait", limits });
    const first = take("first");
    deny(sent[0], 3_600_000, denial());
    expect(await first).toSatisfy(isRateLimitError);
    void take("second");
    await pass(999);
    expect(inputs()).toEqual(["first"]);
    await pass(1);
    expect(inputs()).toEqual(["first", "second"]);
  });

  it("knows the denials of limits that no observer follows, by its own count and key", () => {
    const known = createKnownDenials(new Set(), Date.now, Date.now);
    const use = { ...minute, key: "k", count: 1 };
    known.learn(use, denial());
    expect(known.find(use, false)?.retryAfter).toBe(1000);
    expect(known.find(minute, false)).toBeUndefined();
    expect(known.find(hour, false)?.retryAfter).toBe(3_600_000);
    expect(known.find(day, false)).toBeUndefined();
  });

  it.each(MALFORMED)("ignores denials with %s", (_, denials) => {
    const known = createKnownDenials(new Set(), Date.now, Date.now);
    known.learn(minute, { ...denial(), denials: denials as never });
    expect(known.find(minute, false)).toBeUndefined();
    expect(known.find(hour, false)?.retryAfter).toBe(3_600_000);
  });
});

describe("a mutation that waits for its limit", () => {
  async function startSending(denials?: unknown) {
    const { observer, waits } = await startObserving();
    const queue = createHeldCalls(observer, minute, () => {});
    let tries = 0;
    const sent = sendLimited(
      async () => {
        if (tries++ === 0) throw new RateLimitError(denial(denials));
        return "sent";
      },
      { observer, item: minute, queue, whenLimited: "wait", on: "call", count: 1 },
    ).catch((error: unknown) => error);
    await pass(1);
    return { sent, waits, tries: () => tries };
  }

  it("is sent again when all exhausted limits allow it", async () => {
    const { sent, waits, tries } = await startSending();
    expect(waits()).toEqual([999, 3_599_999, 0]);
    await pass(3_599_998);
    expect(tries()).toBe(1);
    await pass(2);
    expect(await sent).toBe("sent");
  });

  it("fails when only other limits are exhausted, and shows their waits", async () => {
    const { sent, waits, tries } = await startSending([]);
    expect(await sent).toSatisfy(isRateLimitError);
    expect([tries(), ...waits()]).toEqual([1, 0, 3_599_999, 0]);
  });
});
