import { runInNewContext } from "node:vm";
import { expect, it, vi } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";

it("a listener of decisions or changes may throw or reject without effect", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    const called: string[] = [];
    const later = async (what: string) => {
      called.push(what);
      await Promise.resolve();
      throw new Error(`${what} failed later`);
    };
    const limiter = createRateLimiter({
      store: memoryStore(),
      limits: { once: { kind: "token bucket", rate: 1, period: MINUTE } },
      onDecision: () => later("decision"),
      channel: { publish: () => later("publish"), subscribe: () => () => {} },
    });
    limiter.onChange(() => {
      called.push("first");
      throw new Error("failed at once");
    });
    limiter.onChange((() => later("second")) as () => unknown);
    await expect(limiter.limit("once")).resolves.toMatchObject({ ok: true });
    expect(called.toSorted()).toEqual(["decision", "first", "publish", "second"]);
    // Node reports unhandled rejections once the queue of promises is empty.
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
});

it("handles the rejection of a promise from another realm", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    const Foreign = runInNewContext("Promise") as PromiseConstructor;
    const metrics = vi.fn(() => Foreign.reject<undefined>(new Error("metrics are down")));
    const limiter = createRateLimiter({
      store: memoryStore(),
      limits: { once: { kind: "token bucket", rate: 1, period: MINUTE } },
      onDecision: metrics,
    });
    await expect(limiter.limit("once")).resolves.toMatchObject({ ok: true });
    expect(metrics).toHaveBeenCalledOnce();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
});
