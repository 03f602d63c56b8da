/** Holds inside transactions: of the limiter, and of the application. */
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../../../server/index.js";
import { stores } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  quota: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true },
  credits: { kind: "credits", holds: true },
} as const;
const key = "user 1|a\\";
const keep = { for: 10 * MINUTE, then: "keep" } as const;
const release = { for: 10 * MINUTE, then: "release" } as const;

describe.each(stores)("holds on %s", (_, open) => {
  const setUp = () => twoProcesses(open, limits);
  type At = Awaited<ReturnType<typeof setUp>>;
  type Inside = Parameters<Parameters<At["limiter"]["transaction"]>[0]>[0];

  describe.each([
    [
      "transaction",
      (at: At, run: (inside: Inside) => Promise<void>) => at.limiter.transaction(run),
    ],
    [
      "using",
      (at: At, run: (inside: Inside) => Promise<void>) =>
        at.store.transaction!((tx) => run(at.limiter.using(tx as never) as never), {}),
    ],
  ] as const)("inside of %s", (__, within) => {
    it("are settled, released and taken with it, or not at all", async () => {
      const at = await setUp();
      await at.limiter.limit("quota", { key, count: 30, once: "a", hold: keep });
      await at.limiter.limit("quota", { key, count: 30, once: "b", hold: keep });
      const work = async (inside: Inside) => {
        expect(await inside.settle("quota", { key, once: "a" }, 10)).toMatchObject({ value: 60 });
        expect(await inside.release("quota", { key, once: "b" })).toMatchObject({ value: 90 });
        expect(await inside.settle("quota", { key, once: "a" }, 0)).toMatchObject({
          reason: "settled",
        });
        const taken = await inside.limit("quota", { key, count: 50, once: "c", hold: release });
        expect(taken).toMatchObject({ ok: true, value: 40 });
      };
      const undone = within(at, async (inside) => {
        await work(inside);
        throw new Error("undone");
      });
      await expect(undone).rejects.toThrow("undone");
      expect(await at.peer.getValue("quota", { key })).toMatchObject({ value: 40, held: 60 });
      expect(await at.peer.holds("quota", { key })).toHaveLength(2);
      await within(at, work);
      expect(await at.peer.getValue("quota", { key })).toMatchObject({ value: 40, held: 50 });
      expect(await at.peer.holds("quota", { key })).toMatchObject([{ once: "c", count: 50 }]);
    });

    it("that have lapsed are found by a call that would be denied", async () => {
      const at = await setUp();
      await at.limiter.limit("quota", { key, count: 60, once: "a", hold: release });
      at.clock.advance(10 * MINUTE);
      const work = async (inside: Inside) => {
        // This one is seen by its own transaction only.
        await inside.limit("quota", { key, count: 20, once: "b", hold: keep });
        expect(await inside.check("quota", { key, count: 80 })).toMatchObject({ ok: true });
        const names = ["quota", "credits"] as const;
        expect(await inside.limitFirst(names, { key, count: 80 })).toMatchObject({ ok: true });
      };
      const undone = within(at, async (inside) => {
        await work(inside);
        throw new Error("undone");
      });
      await expect(undone).rejects.toThrow("undone");
      expect(await at.peer.holds("quota", { key })).toMatchObject([{ once: "a", count: 60 }]);
      await within(at, work);
      expect(await at.peer.getValue("quota", { key })).toMatchObject({ value: 0, held: 20 });
    });
  });

  it("end once where many transactions end them at once, and conflicts are tried again", async () => {
    const at = await setUp();
    await at.limiter.limit("quota", { key, count: 50, once: "a", hold: keep });
    const limiters = [at.limiter, at.peer, at.limiter, at.peer];
    const ended = await Promise.all(
      limiters.map((limiter, i) =>
        limiter.transaction(async (inside) => {
          await inside.limit("quota", { key, count: 1 });
          const { settled } = await inside.settle("quota", { key, once: "a" }, i);
          return settled ? i : undefined;
        }),
      ),
    );
    const [used, ...others] = ended.filter((i) => i !== undefined);
    expect(others).toEqual([]);
    expect(await at.peer.getValue("quota", { key })).toMatchObject({ value: 96 - used!, held: 0 });
  });
});
