/** How many streams a caller may have open, what each one follows, and when it ends. */
import { TRPCError } from "@trpc/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimitSnapshot,
} from "../../../server/index.js";
import { type KeyResolverOptions, SHARED_BUCKET } from "../../../server/trpc/index.js";
import { type Door, DOORS, openDoor } from "../../support/live-doors.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const config = { kind: "token bucket", rate: 100, period: MINUTE } as const;
type Name = "own" | "team" | "all";
type Items = { name: Name; key?: string }[];
type Resolver = (options: KeyResolverOptions<{ user: string }, Name>) => string | null;

const planned = {
  kind: "token bucket",
  period: MINUTE,
  plans: { free: 100, paid: 1000 },
} as const;
type Plan = "free" | "paid";

/** Every caller has a key of its own, one shared bucket, and may request the teams that it names. */
function start(door: Door, options: { maxStreams?: number; keyInterval?: number } = {}) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    plans: ["free", "paid"],
    limits: { own: planned, team: planned, all: config },
  });
  const resolver = vi.fn<Resolver>(({ ctx, requested }) => requested ?? ctx.user);
  const plans = vi.fn<(name: Name) => Plan>(() => "free");
  const createCaller = openDoor<{ user: string }, Name>(door, {
    limiter,
    ...options,
    plan: ({ name }) => plans(name),
    key: (call: KeyResolverOptions<{ user: string }, Name>) => {
      const key = resolver(call);
      return call.name === "all" ? SHARED_BUCKET : key;
    },
  });

  /** Opens a stream, and ends it by its signal, as a closed connection does. */
  async function open(user: string, items: Items, id?: string) {
    const connection = new AbortController();
    const { watch } = createCaller({ user }, { signal: connection.signal });
    const seen: RateLimitSnapshot[] = [];
    const stream = {
      seen,
      /** `true` once the stream has ended by itself, or the error that it ended with. */
      ended: undefined as unknown,
      async close() {
        connection.abort();
        await vi.advanceTimersByTimeAsync(0);
      },
    };
    void (async () => {
      for await (const snapshot of await watch({ items, ...(id !== undefined && { stream: id }) }))
        seen.push(snapshot);
    })().then(
      () => (stream.ended = true),
      (error: unknown) => (stream.ended = error),
    );
    await vi.advanceTimersByTimeAsync(100);
    return stream;
  }
  const openMany = async (count: number, user: string, items: Items) => {
    const streams = [];
    for (let i = 0; i < count; i++) streams.push(await open(user, items));
    return streams;
  };
  return { limiter, resolver, plans, open, openMany };
}

const tooMany = (max: number) => ({
  code: "CONFLICT",
  message: `This caller has ${max} streams open, and may not have more`,
});

describe.each(DOORS)("over the %s", (door) => {
  describe("copies of one limit in a stream", () => {
    it("are merged: one call of the resolver, and one snapshot per change", async () => {
      const { limiter, resolver, open } = start(door);
      const copies = Array.from({ length: 100 }, () => ({ name: "own" }) as const);
      const { seen } = await open("ada", copies);
      expect(seen).toHaveLength(1);
      expect(resolver).toHaveBeenCalledTimes(1);
      await limiter.limit("own", { key: "ada", plan: "free" });
      await vi.advanceTimersByTimeAsync(100);
      expect(seen.map(({ value }) => Math.floor(value))).toEqual([100, 99]);
    });

    it("stay apart where the client asks with a key and without one", async () => {
      const { open } = start(door);
      const { seen } = await open("ada", [{ name: "own" }, { name: "own", key: "ada" }]);
      expect(seen.map(({ key }) => key)).toEqual([undefined, "ada"]);
    });
  });

  describe("the streams of one caller", () => {
    it("are ten at most by default, and others have ten of their own", async () => {
      const { open, openMany } = start(door);
      const streams = await openMany(10, "mallory", [{ name: "own" }]);
      expect(streams.map(({ ended }) => ended)).toEqual(Array(10).fill(undefined));
      const refused = await openMany(10, "mallory", [{ name: "own" }]);
      for (const { ended, seen } of refused) {
        expect(ended).toMatchObject(tooMany(10));
        expect(seen).toEqual([]);
      }
      expect((await open("ada", [{ name: "own" }])).seen).toHaveLength(1);
      await streams[4]!.close();
      expect((await open("mallory", [{ name: "own" }])).seen).toHaveLength(1);
      expect((await open("mallory", [{ name: "own" }])).ended).toMatchObject(tooMany(10));
    });

    it("are no longer counted once they are closed", async () => {
      const { open } = start(door, { maxStreams: 1 });
      for (let i = 0; i < 3; i++) {
        const stream = await open("ada", [{ name: "own" }]);
        expect(stream.seen).toHaveLength(1);
        await stream.close();
      }
    });

    it("count for the caller whatever they follow, and not for the keys they request", async () => {
      const { open } = start(door, { maxStreams: 2 });
      await open("mallory", [{ name: "team", key: "reds" }]);
      await open("mallory", [{ name: "team", key: "blues" }]);
      const third = await open("mallory", [{ name: "team", key: "greens" }, { name: "all" }]);
      expect(third.ended).toMatchObject(tooMany(2));
      for (const user of ["ada", "bob", "cleo"]) {
        expect((await open(user, [{ name: "team", key: "reds" }])).seen).toHaveLength(1);
      }
    });

    it("count for the requested key where the caller has no other one", async () => {
      const { open, resolver } = start(door, { maxStreams: 2 });
      resolver.mockImplementation(({ requested }) => requested ?? null);
      await open("ada", [{ name: "team", key: "reds" }]);
      await open("bob", [{ name: "team", key: "reds" }]);
      const third = await open("cleo", [{ name: "team", key: "reds" }]);
      expect(third.ended).toMatchObject(tooMany(2));
      expect((await open("cleo", [{ name: "team", key: "blues" }])).seen).toHaveLength(1);
    });

    it("count for the caller where they follow only the shared bucket", async () => {
      const { openMany } = start(door, { maxStreams: 2 });
      const streams = await openMany(3, "ada", [{ name: "all" }]);
      expect(streams.map(({ seen }) => seen.length)).toEqual([1, 1, 0]);
      expect(streams[2]!.ended).toMatchObject(tooMany(2));
    });

    it("are a hundred times as many for all callers without a key together", async () => {
      const { open, openMany, resolver } = start(door, { maxStreams: 1 });
      resolver.mockReturnValue(null);
      const streams = await openMany(100, "", [{ name: "all" }]);
      expect(streams.filter(({ seen }) => seen.length === 1)).toHaveLength(100);
      expect((await open("", [{ name: "all" }])).ended).toMatchObject({
        code: "CONFLICT",
        message:
          "Callers without a key have 100 streams of this process open, and may not have more",
      });
      resolver.mockImplementation(({ ctx }) => ctx.user);
      expect((await open("ada", [{ name: "all" }])).seen).toHaveLength(1);
      await streams[7]!.close();
      resolver.mockReturnValue(null);
      expect((await open("", [{ name: "all" }])).seen).toHaveLength(1);
    });

    it("are replaced by one with the same id, and end then", async () => {
      const { limiter, open } = start(door, { maxStreams: 1 });
      const dead = await open("ada", [{ name: "own" }], "page 1");
      const again = await open("ada", [{ name: "own" }, { name: "all" }], "page 1");
      expect([dead.ended, again.ended, again.seen.length]).toEqual([true, undefined, 2]);
      await dead.close();
      expect((await open("ada", [{ name: "own" }], "page 2")).ended).toMatchObject(tooMany(1));
      expect((await open("ada", [{ name: "own" }])).ended).toMatchObject(tooMany(1));
      await limiter.limit("own", { key: "ada", plan: "free" });
      await vi.advanceTimersByTimeAsync(100);
      expect([dead.seen.length, again.seen.length]).toEqual([1, 3]);
    });

    it("are not replaced by the id of another caller's stream", async () => {
      const { open, resolver } = start(door);
      const stream = await open("ada", [{ name: "own" }], "page 1");
      expect((await open("mallory", [{ name: "own" }], "page 1")).seen).toHaveLength(1);
      resolver.mockReturnValue(null);
      await open("", [{ name: "all" }], "page 1");
      expect(stream.ended).toBeUndefined();
    });

    it("are not counted when they were rejected for another reason", async () => {
      const { open, resolver } = start(door, { maxStreams: 1 });
      resolver.mockReturnValueOnce(null);
      expect((await open("ada", [{ name: "own" }])).ended).toMatchObject({ code: "BAD_REQUEST" });
      expect((await open("ada", [{ name: "own" }])).seen).toHaveLength(1);
    });
  });

  describe("the keys of an open stream are resolved again", () => {
    const items: Items = [{ name: "own" }, { name: "team", key: "reds" }];

    it("once a minute, and the stream goes on while they are the same", async () => {
      const { limiter, resolver, open } = start(door);
      const stream = await open("ada", items);
      resolver.mockClear();
      await vi.advanceTimersByTimeAsync(2 * MINUTE);
      expect(resolver.mock.calls.map(([{ name }]) => name)).toEqual(["own", "team", "own", "team"]);
      await limiter.limit("team", { key: "reds", plan: "free" });
      await vi.advanceTimersByTimeAsync(100);
      expect(stream.seen).toHaveLength(3);
      await stream.close();
      // The limiter's own timer ends meanwhile.
      await vi.advanceTimersByTimeAsync(5000);
      expect([stream.ended, vi.getTimerCount()]).toEqual([true, 0]);
    });

    it.each([
      ["is rejected with null", () => null, { code: "BAD_REQUEST" }],
      [
        "is forbidden",
        () => {
          throw new TRPCError({ code: "FORBIDDEN" });
        },
        { code: "FORBIDDEN" },
      ],
      [
        "cannot be looked up",
        () => {
          throw new Error("the database is down");
        },
        { message: "the database is down" },
      ],
    ])("the stream ends with an error when one %s", async (_what, answer, error) => {
      const { limiter, resolver, open } = start(door, { keyInterval: 1000 });
      const stream = await open("ada", items);
      resolver.mockImplementation(({ ctx, name }) => (name === "team" ? answer() : ctx.user));
      await vi.advanceTimersByTimeAsync(1000);
      // A stream of events can only end. Its client asks again, and is told why.
      if (door === "router") expect(stream.ended).toMatchObject(error);
      else expect(stream.ended).toBe(true);
      await limiter.limit("own", { key: "ada", plan: "free" });
      await limiter.limit("team", { key: "reds", plan: "free" });
      await vi.advanceTimersByTimeAsync(5000);
      expect(stream.seen).toHaveLength(2);
      expect(vi.getTimerCount()).toBe(0);
    });

    it("the stream ends without an error when one has changed", async () => {
      const { resolver, open } = start(door, { keyInterval: 1000 });
      const stream = await open("ada", items);
      resolver.mockImplementation(({ requested, ctx }) => requested ?? `${ctx.user}, renamed`);
      await vi.advanceTimersByTimeAsync(1000);
      expect(stream.ended).toBe(true);
    });

    it("one resolution at a time, and none with an interval of Infinity", async () => {
      const slow = start(door, { keyInterval: 1000 });
      await slow.open("ada", [{ name: "own" }]);
      slow.resolver.mockClear();
      slow.resolver.mockReturnValue(new Promise(() => {}) as never);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(slow.resolver).toHaveBeenCalledTimes(1);
      const never = start(door, { keyInterval: Infinity });
      await never.open("ada", [{ name: "own" }]);
      never.resolver.mockClear();
      await vi.advanceTimersByTimeAsync(5 * MINUTE);
      expect(never.resolver).not.toHaveBeenCalled();
    });
  });

  describe("the plans of an open stream are resolved again", () => {
    const items: Items = [{ name: "own" }, { name: "team", key: "reds" }];
    const shown = ({ seen }: { seen: RateLimitSnapshot[] }) =>
      seen.map(({ name, value, config: { rate } }) => `${name} ${Math.floor(value)} of ${rate}`);

    it("with the keys, and the stream goes on by a plan that has changed", async () => {
      const { limiter, plans, open } = start(door, { keyInterval: 1000 });
      const stream = await open("ada", items);
      plans.mockImplementation((name) => (name === "team" ? "paid" : "free"));
      await vi.advanceTimersByTimeAsync(1000);
      expect(shown(stream)).toContain("team 1000 of 1000");
      expect(shown(stream)).not.toContain("own 1000 of 1000");
      const before = stream.seen.length;
      // The same plan is no change.
      await vi.advanceTimersByTimeAsync(5000);
      expect(stream.seen).toHaveLength(before);
      await limiter.limit("team", { key: "reds", plan: "paid", count: 5 });
      await limiter.limit("own", { key: "ada", plan: "free", count: 5 });
      await vi.advanceTimersByTimeAsync(100);
      expect(shown(stream).slice(before).toSorted()).toEqual(["own 95 of 100", "team 995 of 1000"]);
      plans.mockReturnValue("free");
      await vi.advanceTimersByTimeAsync(1000);
      expect(shown(stream)).toContain("team 100 of 100");
      await stream.close();
      await vi.advanceTimersByTimeAsync(5000);
      expect([stream.ended, vi.getTimerCount()]).toEqual([true, 0]);
    });

    it("at once after a change of plan, for the streams of its key alone", async () => {
      const { limiter, plans, open } = start(door);
      const [ada, bob] = [await open("ada", items), await open("bob", [{ name: "own" }])];
      await limiter.limit("own", { key: "ada", plan: "free", count: 100 });
      await vi.advanceTimersByTimeAsync(100);
      plans.mockClear();
      plans.mockReturnValue("paid");
      limiter.planChanged("ada");
      await vi.advanceTimersByTimeAsync(100);
      expect(shown(ada).at(-2)).toBe("own 900 of 1000");
      expect(plans).toHaveBeenCalledTimes(items.length);
      expect(shown(bob)).toEqual(["own 100 of 100"]);
    });

    it("once more when the plan changes while they are resolved", async () => {
      const { limiter, plans, open } = start(door);
      const ada = await open("ada", [{ name: "own" }]);
      let answer: (given: Plan) => void = () => {};
      plans.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)) as never);
      limiter.planChanged("ada");
      plans.mockReturnValue("paid");
      limiter.planChanged("ada");
      answer("free");
      await vi.advanceTimersByTimeAsync(100);
      expect(shown(ada).at(-1)).toBe("own 1000 of 1000");
    });

    it("and the stream ends with an error when one is no plan", async () => {
      const { plans, open } = start(door, { keyInterval: 1000 });
      const stream = await open("ada", items);
      plans.mockReturnValue("gold" as Plan);
      await vi.advanceTimersByTimeAsync(1000);
      if (door === "handler") expect(stream.ended).toBe(true);
      else {
        expect(stream.ended).toMatchObject({ code: "INTERNAL_SERVER_ERROR" });
        expect((stream.ended as Error).message).not.toContain("gold");
      }
      await vi.advanceTimersByTimeAsync(5000);
      expect(vi.getTimerCount()).toBe(0);
    });

    it("and streams of one plan share what is read, in one query per tick", async () => {
      const { limiter, plans, open } = start(door);
      const snapshots = vi.spyOn(limiter, "snapshots");
      for (const answer of ["free", "free", "paid", "paid"] as const) {
        plans.mockReturnValue(answer);
        await open("ada", [{ name: "own" }]);
      }
      snapshots.mockClear();
      await vi.advanceTimersByTimeAsync(3000);
      expect(snapshots.mock.calls.map(([read]) => read.length)).toEqual([2, 2, 2]);
    });
  });
});
