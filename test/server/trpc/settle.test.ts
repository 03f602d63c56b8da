/** `ctx.rateLimit.settle`, over HTTP: in mutations, in streams, and when the client goes away. */
import {
  createTRPCClient,
  httpBatchStreamLink,
  httpSubscriptionLink,
  splitLink,
  TRPCClientError,
} from "@trpc/client";
import { TRPCError } from "@trpc/server";
import { EventSource } from "eventsource";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createManualClock } from "../../../core/testing.js";
import { MINUTE } from "../../../server/index.js";
import { startServer } from "../../support/http.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";
import { soon } from "../../support/soon.js";

const limits = {
  tokens: { kind: "token bucket", rate: 1000, period: MINUTE },
  images: { kind: "fixed window", rate: 10, period: MINUTE, start: 0 },
} as const;

const USES = { undefined, null: null, NaN, text: "12" };

async function startApp() {
  const { limiter, t, rl } = createLimitedTRPC(limits, { clock: createManualClock() });
  /** How many streams have run their `finally`. */
  const ended = { count: 0 };
  const estimate = rl.rateLimited("tokens", { count: 100 });

  /** A language model: a word for 10 tokens each, without an end from 1e9 words on. */
  async function* write(words: number, signal: AbortSignal | undefined) {
    for (let i = 0; i < words; i++) {
      if (words >= 1e9) await new Promise((resolve) => setTimeout(resolve, 5));
      if (signal?.aborted) return;
      yield `word ${i}`;
    }
  }

  async function* answer(
    words: number,
    signal: AbortSignal | undefined,
    settle: (actual: number) => Promise<unknown>,
  ) {
    let used = 0;
    try {
      for await (const word of write(words, signal)) {
        used += 10;
        yield word;
      }
      if (words === 13) throw new TRPCError({ code: "CONFLICT", message: "the model failed" });
    } finally {
      await settle(used);
      ended.count++;
    }
  }

  const router = t.router({
    complete: t.procedure
      .input(z.number())
      .use(estimate)
      .mutation(async ({ ctx, input }) => {
        await ctx.rateLimit.settle(input);
        return ctx.rateLimit;
      }),
    fail: t.procedure.use(estimate).mutation(async ({ ctx }) => {
      try {
        await Promise.reject(new Error("the model is down"));
      } catch (error) {
        await ctx.rateLimit.settle(0);
        throw error;
      }
    }),
    failAfter: t.procedure
      .input(z.number())
      .use(rl.rateLimited("tokens", { count: 100, on: "success" }))
      .mutation(async ({ ctx, input }) => {
        if (input > 0) await ctx.rateLimit.settle(input);
        if (input > 0) throw new TRPCError({ code: "CONFLICT" });
        return "done";
      }),
    several: t.procedure
      .input(z.record(z.string(), z.number()))
      .use(rl.rateLimited(["tokens", "images"], { count: 5 }))
      .mutation(({ ctx, input }) => ctx.rateLimit.settle(input)),
    number: t.procedure
      .use(rl.rateLimited(["tokens", "images"]))
      .mutation(({ ctx }) => ctx.rateLimit.settle(7 as never)),
    unknown: t.procedure
      .input(z.enum(["undefined", "null", "NaN", "text"]))
      .use(estimate)
      .mutation(async ({ ctx, input }) => {
        try {
          return { answer: "complete" };
        } finally {
          await ctx.rateLimit.settle(USES[input] as number);
        }
      }),
    unknownOfSeveral: t.procedure
      .input(z.enum(["whole", "one"]))
      .use(rl.rateLimited(["tokens", "images"], { count: 5 }))
      .mutation(({ ctx, input }) => {
        if (input === "whole") return ctx.rateLimit.settle(undefined);
        return ctx.rateLimit.settle({ tokens: NaN, images: 2 });
      }),
    unknownOfFirst: t.procedure
      .use(rl.rateLimited.first(["tokens", "images"], { count: 5 }))
      .mutation(({ ctx }) => ctx.rateLimit.settle(null)),
    inTransaction: t.procedure
      .input(z.number())
      .use(rl.rateLimited.transaction(["tokens", "images"], { count: 5 }))
      .mutation(async ({ ctx, input }) => {
        await ctx.rateLimit.settle({ tokens: input, images: 0 });
        if (input > 500) throw new TRPCError({ code: "CONFLICT" });
      }),
    stream: t.procedure
      .input(z.number())
      .use(estimate)
      .query(({ ctx, input, signal }) =>
        answer(input, signal, (actual) => ctx.rateLimit.settle(actual)),
      ),
    subscribe: t.procedure
      .input(z.number())
      .use(estimate)
      .subscription(({ ctx, input, signal }) =>
        answer(input, signal, (actual) => ctx.rateLimit.settle(actual)),
      ),
  });
  const server = await startServer(router, () => ({}));
  const { url } = server;
  const client = createTRPCClient<typeof router>({
    links: [
      splitLink({
        condition: ({ type }) => type === "subscription",
        true: httpSubscriptionLink({ url, EventSource }),
        false: httpBatchStreamLink({ url }),
      }),
    ],
  });
  return {
    client,
    server,
    ended,
    left: async (name: keyof typeof limits) => (await limiter.getValue(name)).value,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe("settle in a procedure", () => {
  it("charges what was used instead of the estimate, less or more", async () => {
    await using app = await startApp();
    expect(await app.client.complete.mutate(30)).toMatchObject({ ok: true, value: 900 });
    expect(await app.left("tokens")).toBe(970);
    await app.client.complete.mutate(1000);
    expect(await app.left("tokens")).toBe(-30);
    const denied = await app.client.complete.mutate(1).catch((error: unknown) => error);
    expect(denied).toBeInstanceOf(TRPCClientError);
    // 130 tokens are missing, and one comes every 60 ms.
    expect(denied).toMatchObject({ data: { rateLimit: { retryAfter: 7800, value: -30 } } });
  });

  it("sends the client its decision without the function", async () => {
    await using app = await startApp();
    const sent = await app.client.complete.mutate(30);
    expect(Object.keys(sent).toSorted()).toEqual(["ok", "ts", "value"]);
  });

  it("gives all back when the procedure fails: by settle(0), and by `on`, also after a settle", async () => {
    await using app = await startApp();
    await expect(app.client.fail.mutate()).rejects.toThrow("the model is down");
    expect(await app.left("tokens")).toBe(1000);
    for (const used of [40, 700]) {
      await expect(app.client.failAfter.mutate(used)).rejects.toMatchObject({
        data: { code: "CONFLICT" },
      });
      expect(await app.left("tokens")).toBe(1000);
    }
    expect(await app.client.failAfter.mutate(0)).toBe("done");
    expect(await app.left("tokens")).toBe(900);
  });

  it("corrects several limits by their names, and rejects what names none of them", async () => {
    await using app = await startApp();
    await app.client.several.mutate({ tokens: 60, images: 2 });
    expect([await app.left("tokens"), await app.left("images")]).toEqual([940, 8]);
    await app.client.several.mutate({ images: 0 });
    expect([await app.left("tokens"), await app.left("images")]).toEqual([935, 8]);
    const misspelt = app.client.several.mutate({ token: 60, images: 0 });
    await expect(misspelt).rejects.toThrow('"token" is none of the limits that were charged');
    await expect(app.client.number.mutate()).rejects.toThrow("counts by name: got 7");
    // Neither has settled anything.
    expect([await app.left("tokens"), await app.left("images")]).toEqual([929, 2]);
  });
});

describe("a use that the provider has left out", () => {
  it.each(["undefined", "null", "NaN"] as const)(
    "as %s ends no answer, and leaves the estimate",
    async (use) => {
      await using app = await startApp();
      expect(await app.client.unknown.mutate(use)).toMatchObject({ answer: "complete" });
      expect(await app.left("tokens")).toBe(900);
    },
  );

  it("is told from a figure that is wrong", async () => {
    await using app = await startApp();
    await expect(app.client.unknown.mutate("text")).rejects.toThrow("got string");
    expect(await app.left("tokens")).toBe(900);
  });

  it("leaves the estimates of the limits that it is missing for, and settles the others", async () => {
    await using app = await startApp();
    const { unknownOfSeveral } = app.client;
    expect(await unknownOfSeveral.mutate("whole")).toEqual({ settled: false });
    expect([await app.left("tokens"), await app.left("images")]).toEqual([995, 5]);
    expect(await unknownOfSeveral.mutate("one")).toEqual({ settled: false });
    expect([await app.left("tokens"), await app.left("images")]).toEqual([990, 3]);
  });

  it("leaves what the first of several limits has paid", async () => {
    await using app = await startApp();
    expect(await app.client.unknownOfFirst.mutate()).toEqual({ settled: false });
    expect(await app.left("tokens")).toBe(995);
  });
});

describe("settle in a procedure in a transaction", () => {
  it("is committed or rolled back with the tokens", async () => {
    await using app = await startApp();
    await app.client.inTransaction.mutate(30);
    expect([await app.left("tokens"), await app.left("images")]).toEqual([970, 10]);
    await expect(app.client.inTransaction.mutate(501)).rejects.toMatchObject({
      data: { code: "CONFLICT" },
    });
    expect([await app.left("tokens"), await app.left("images")]).toEqual([970, 10]);
  });
});

describe("settle in the `finally` of a streamed answer", () => {
  it("comes after the last word", async () => {
    await using app = await startApp();
    const words: string[] = [];
    for await (const word of await app.client.stream.query(20)) words.push(word);
    expect(words).toHaveLength(20);
    expect(await app.left("tokens")).toBe(800);
    expect(app.ended.count).toBe(1);
  });

  it("comes after an error in the middle of it", async () => {
    await using app = await startApp();
    const read = async () => {
      for await (const _ of await app.client.stream.query(13));
    };
    await expect(read()).rejects.toThrow("the model failed");
    await soon(() => expect(app.ended.count).toBe(1));
    expect(await app.left("tokens")).toBe(870);
  });

  it("comes when the client goes away", async () => {
    await using app = await startApp();
    const abort = new AbortController();
    const stream = await app.client.stream.query(1e9, { signal: abort.signal });
    const seen: string[] = [];
    const read = async () => {
      for await (const word of stream) if (seen.push(word) === 3) abort.abort();
    };
    await expect(read()).rejects.toThrow("abort");
    await soon(() => expect(app.ended.count).toBe(1));
    const left = await app.left("tokens");
    expect(left).toBeLessThanOrEqual(970);
    // Nothing runs on that would use more.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await app.left("tokens")).toBe(left);
  });

  it("comes at the end of a subscription, and when its subscriber leaves", async () => {
    await using app = await startApp();
    const seen: string[] = [];
    await new Promise<void>((onComplete, onError) => {
      app.client.subscribe.subscribe(5, { onData: (word) => seen.push(word), onComplete, onError });
    });
    expect(seen).toHaveLength(5);
    await soon(() => expect(app.ended.count).toBe(1));
    expect(await app.left("tokens")).toBe(950);
    const left = new Promise<void>((resolve, onError) => {
      const subscription = app.client.subscribe.subscribe(1e9, {
        onData(word) {
          if (word !== "word 3") return;
          subscription.unsubscribe();
          resolve();
        },
        onError,
      });
    });
    await left;
    await soon(() => expect(app.ended.count).toBe(2));
    expect(await app.left("tokens")).toBeLessThan(920);
  });
});
