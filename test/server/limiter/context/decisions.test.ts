/** The listeners of decisions. */
import { describe, expect, it } from "vitest";
import {
  createRateLimiter,
  type DecisionEvent,
  memoryStore,
  MINUTE,
} from "../../../../server/index.js";
import { createDecisions } from "../../../../server/limiter/context/decisions.js";

const limits = { send: { kind: "token bucket", rate: 1, period: MINUTE } } as const;

function start(onDecision?: (event: DecisionEvent) => void) {
  return createRateLimiter({
    store: memoryStore(),
    limits,
    ...(onDecision !== undefined && { onDecision }),
  });
}

describe("limiter.onDecision", () => {
  it("tells a listener of each decision, until it is ended", async () => {
    const limiter = start();
    const heard: DecisionEvent[] = [];
    const end = limiter.onDecision((event) => void heard.push(event));
    await limiter.limit("send", { key: "ada" });
    await limiter.check("send", { key: "ada" });
    end();
    end();
    await limiter.limit("send", { key: "ada" });
    const event = { name: "send", key: "ada", count: 1, capacity: 1 };
    const rest = { result: expect.anything(), share: expect.closeTo(1, 3) };
    expect(heard).toEqual([
      { action: "limit", ...event, ...rest },
      { action: "check", ...event, ...rest },
    ]);
  });

  it("tells all listeners beside the option, in their order, also one that is there twice", async () => {
    const heard: string[] = [];
    const limiter = start(() => void heard.push("option"));
    const twice = () => void heard.push("twice");
    const ends = [limiter.onDecision(twice), limiter.onDecision(twice)];
    limiter.onDecision(() => void heard.push("last"));
    await limiter.limit("send");
    expect(heard.splice(0)).toEqual(["option", "twice", "twice", "last"]);
    ends[0]!();
    await limiter.limit("send");
    expect(heard).toEqual(["option", "twice", "last"]);
  });

  it("goes on where a listener throws or rejects, and the call has its answer", async () => {
    const limiter = start(() => {
      throw new Error("a metric");
    });
    const heard: unknown[] = [];
    limiter.onDecision(() => Promise.reject(new Error("another metric")));
    limiter.onDecision(({ result }) => void heard.push(result.ok));
    expect(await limiter.limit("send")).toMatchObject({ ok: true });
    expect(heard).toEqual([true]);
  });

  it("hears of calls of several limits, and of denials", async () => {
    const limiter = start();
    const heard: unknown[] = [];
    limiter.onDecision(({ name, result }) => void heard.push([name, result.ok]));
    await limiter.limitAll([{ name: "send" }]);
    await limiter.limitAll([{ name: "send" }]);
    expect(heard).toEqual([
      ["send", true],
      ["send", false],
    ]);
  });
});

it("makes no event while nobody listens", () => {
  const decisions = createDecisions(undefined);
  expect(decisions.heard).toBeUndefined();
  const end = decisions.listen(() => {});
  expect(decisions.heard).toBeDefined();
  end();
  expect(decisions.heard).toBeUndefined();
});
