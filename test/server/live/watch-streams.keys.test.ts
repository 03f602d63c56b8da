/** The key that the application's own resolver returns can be invalid too. */
import { describe, expect, it } from "vitest";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimitSnapshot,
} from "../../../server/index.js";
import type { KeyResolverOptions } from "../../../server/trpc/index.js";
import { type Door, DOORS, openDoor } from "../../support/live-doors.js";
import { soon } from "../../support/soon.js";

type Call = KeyResolverOptions<{ user: string }, string>;

function start(door: Door) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { team: { kind: "token bucket", rate: 9, period: MINUTE } },
  });
  return openDoor<{ user: string }>(door, {
    limiter,
    interval: Infinity,
    key: ({ ctx, requested }: Call) => (requested === undefined ? ctx.user : `team ${requested}`),
    authorize: () => expect.fail("authorize was called with an invalid key"),
  });
}

/** The longest key that a client may request. It is too long with the prefix of the resolver. */
const key = "k".repeat(191);

describe.each(DOORS)("over the %s", (door) => {
  describe("an invalid key", () => {
    it.each([
      ["too long with its prefix", { user: "ada" }, key],
      ["empty, for a user without a name", { user: "" }, undefined],
    ])("ends the stream that requested it: %s", async (_what, context, requested) => {
      const { watch } = start(door)(context);
      const stream = await watch({ items: [{ name: "team", key: requested }] });
      const first = stream[Symbol.asyncIterator]().next();
      await expect(first).rejects.toMatchObject({ code: "BAD_REQUEST" });
    });

    it("does not affect streams with other keys", async () => {
      const createCaller = start(door);
      const connection = new AbortController();
      const { watch } = createCaller({ user: "mallory" }, { signal: connection.signal });
      const theirs = (await watch({ items: [{ name: "team", key }] }))[Symbol.asyncIterator]();
      void theirs.next().catch(() => {});
      const stream = await createCaller({ user: "ada" }).watch({ items: [{ name: "team" }] });
      const { value } = await stream[Symbol.asyncIterator]().next();
      expect(value).toMatchObject({ name: "team", value: 9 });
      connection.abort();
    });

    it("is rejected before authorize is called", async () => {
      const { limit } = start(door)({ user: "ada" });
      await expect(limit({ name: "team", key })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    });
  });

  describe("a key that hashKey has no valid answer for", () => {
    function startHashing(hashKey: (key: string) => unknown) {
      const limiter = createRateLimiter({
        store: memoryStore(),
        limits: { team: { kind: "token bucket", rate: 9, period: MINUTE } },
        hashKey: hashKey as (key: string) => string,
      });
      const createCaller = openDoor<{ user: string }>(door, {
        limiter,
        interval: 20,
        key: ({ ctx }: Call) => ctx.user,
      });

      async function open(user: string) {
        const connection = new AbortController();
        const { watch } = createCaller({ user }, { signal: connection.signal });
        const stream = {
          seen: [] as RateLimitSnapshot[],
          /** `true` once the stream has ended by itself, or the error that it ended with. */
          ended: undefined as unknown,
          close: () => connection.abort(),
          values: () => stream.seen.map(({ value }) => Math.floor(value)),
        };
        void (async () => {
          for await (const snapshot of await watch({ items: [{ name: "team" }] })) {
            stream.seen.push(snapshot);
          }
        })().then(
          () => (stream.ended = true),
          (error: unknown) => (stream.ended = error),
        );
        return stream;
      }
      const spend = (user: string) => limiter.limit("team", { key: user });
      /** Those of so many other callers take the place of what is kept of `hashKey`. */
      const forgetHashes = () => {
        for (let i = 0; i < 11_000; i++) limiter.configOf("team", { key: `user ${i}` });
      };
      return { open, spend, forgetHashes, caller: (user: string) => createCaller({ user }) };
    }

    const refuse = (answer: unknown) => {
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const hidden = {
      code: "INTERNAL_SERVER_ERROR",
      message: "A rate limit of this request has no valid config",
      cause: { name: "RateLimitConfigError", option: "hashKey" },
    };

    describe.each([
      ["throws", new Error("no secret for mallory")],
      ["returns no string", undefined],
      ["returns an invalid key", "mallory\0"],
    ])("since it %s", (_what, answer) => {
      it("ends its own stream with an error, and no other one", async () => {
        const { open, spend } = startHashing((own) => (own === "mallory" ? refuse(answer) : own));
        const first = await open("ada");
        await soon(() => expect(first.values()).toEqual([9]));
        const theirs = await open("mallory");
        const second = await open("bob");
        await soon(() => expect(second.values()).toEqual([9]));
        await spend("ada");
        await soon(() => expect(first.values().at(-1)).toBe(8));
        await soon(() => expect(theirs.ended).toMatchObject(hidden));
        expect((theirs.ended as Error).message).not.toContain("mallory");
        expect([first.ended, second.ended, theirs.seen]).toEqual([undefined, undefined, []]);
        first.close();
        second.close();
      });

      it("ends its own stream alone if that happens later", async () => {
        let isBroken = false;
        const { open, spend, forgetHashes } = startHashing((own) =>
          isBroken && own === "mallory" ? refuse(answer) : own,
        );
        const [ours, theirs] = [await open("ada"), await open("mallory")];
        for (const { values } of [ours, theirs]) {
          await soon(() => expect(values()).toEqual([9]));
        }
        isBroken = true;
        forgetHashes();
        // A stream of events can only end. Its client asks again, and is told why.
        await soon(() =>
          door === "router"
            ? expect(theirs.ended).toMatchObject(hidden)
            : expect(theirs.ended).toBe(true),
        );
        await spend("ada");
        await soon(() => expect(ours.values().at(-1)).toBe(8));
        expect(ours.ended).toBeUndefined();
        // It can be followed again as soon as there is an answer.
        isBroken = false;
        const again = await open("mallory");
        await soon(() => expect(again.values()).toEqual([9]));
        ours.close();
        again.close();
      });

      it("fails a query without details", async () => {
        const { caller } = startHashing((own) => (own === "mallory" ? refuse(answer) : own));
        await expect(caller("mallory").status({ name: "team" })).rejects.toMatchObject(hidden);
        await expect(caller("mallory").check({ name: "team" })).rejects.toMatchObject(hidden);
        expect(await caller("ada").status({ name: "team" })).toMatchObject({ value: 9 });
      });
    });
  });
});
