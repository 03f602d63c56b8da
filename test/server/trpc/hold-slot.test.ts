import { type Observable, type Observer, observable } from "@trpc/server/observable";
import { createTRPCClient, httpBatchStreamLink } from "@trpc/client";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { expect, it, vi } from "vitest";
import {
  type EnterGranted,
  isRateLimitError,
  MINUTE,
  type RateLimitConfigError,
} from "../../../server/index.js";
import { holdingSlot } from "../../../server/trpc/held-stream.js";
import { releasedAfter } from "../../../server/trpc/hold-slot.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";

const limits = {
  generations: { kind: "concurrency", slots: 1 },
  others: { kind: "concurrency", slots: 1 },
  tokens: { kind: "token bucket", rate: 10, period: MINUTE },
} as const;

function raise(message: string): never {
  throw new Error(message);
}

function createApp() {
  const { limiter, t, rl } = createLimitedTRPC(limits);
  const inside: {
    end?: () => void;
    signal?: AbortSignal | undefined;
    observer?: Observer<string, unknown>;
  } = {};
  const working = () => new Promise<void>((resolve) => (inside.end = resolve));
  async function* words() {
    yield "a";
    yield "b";
  }
  const found = { at: new Date(0), list: [1] };
  const router = t.router({
    generate: t.procedure.use(rl.rateLimited("generations")).mutation(async ({ ctx }) => {
      inside.signal = ctx.rateLimit.signal;
      await working();
      return "done";
    }),
    wait: t.procedure
      .use(rl.rateLimited("generations", { maxWait: 10_000 }))
      .mutation(() => "done"),
    fail: t.procedure.use(rl.rateLimited("generations")).mutation(() => {
      throw new Error("broken");
    }),
    both: t.procedure
      .use(rl.rateLimited(["tokens", "generations"], { count: 4, on: "success" }))
      .mutation(async ({ ctx }) => {
        const values = ctx.rateLimit.results.map(({ value }) => value);
        await ctx.rateLimit.settle({ tokens: 1 });
        return values;
      }),
    stream: t.procedure.use(rl.rateLimited("generations")).mutation(async function* () {
      yield "a";
      yield "b";
    }),
    nested: t.procedure.use(rl.rateLimited("generations")).mutation(() => ({
      title: "two words",
      words: words(),
      later: working().then(() => ({ more: words(), last: 1 })),
    })),
    failing: t.procedure.use(rl.rateLimited("generations")).mutation(() => ({
      title: working().then(() => raise("broken")),
    })),
    plain: t.procedure.use(rl.rateLimited("generations")).mutation(() => found),
    judge: t.procedure
      .use(rl.rateLimited(["tokens", "generations"], { on: () => raise("no verdict") }))
      .mutation(() => raise("broken")),
    observe: t.procedure
      .use(rl.rateLimited("generations"))
      .subscription(() => observable<string>((observer) => void (inside.observer = observer))),
    follow: t.procedure.use(rl.rateLimited("generations")).subscription(async function* () {
      yield "a";
      await working();
      yield "b";
    }),
  });
  const abort = new AbortController();
  const caller = router.createCaller({}, { signal: abort.signal });
  const free = async () => (await limiter.check("generations")).value;
  return { limiter, rl, router, caller, abort, inside, found, free };
}

it("holds a slot while a procedure runs, and denies the next call", async () => {
  const { caller, inside, free } = createApp();
  const running = caller.generate();
  await vi.waitFor(() => expect(inside.end).toBeDefined());
  expect(await free()).toBe(0);
  const error: unknown = await caller.generate().catch((reason: unknown) => reason);
  expect(isRateLimitError(error) && error.data.rateLimit).toMatchObject({
    name: "generations",
    value: 0,
    config: { slots: 1 },
  });
  expect(inside.signal?.aborted).toBe(false);
  const waiting = caller.wait();
  inside.end!();
  expect(await running).toBe("done");
  expect(await waiting).toBe("done");
  expect(await free()).toBe(1);
});

it("frees the slot of a procedure that fails", async () => {
  const { caller, free } = createApp();
  await expect(caller.fail()).rejects.toThrow("broken");
  expect(await free()).toBe(1);
});

it("frees the slot if what says whether the call costs fails", async () => {
  const { caller, free } = createApp();
  await expect(caller.judge()).rejects.toThrow("no verdict");
  expect(await free()).toBe(1);
});

async function allOf<TValue>(stream: AsyncIterable<TValue>): Promise<TValue[]> {
  const all: TValue[] = [];
  for await (const value of stream) all.push(value);
  return all;
}

it("holds the slot until all streams and promises in an object have ended", async () => {
  const { caller, inside, free } = createApp();
  const answer = await caller.nested();
  expect(answer.title).toBe("two words");
  expect(await free()).toBe(0);
  expect(await allOf(answer.words)).toEqual(["a", "b"]);
  expect(await free()).toBe(0);
  inside.end!();
  const { more, last } = await answer.later;
  expect([last, await free()]).toEqual([1, 0]);
  expect(await allOf(more)).toEqual(["a", "b"]);
  await vi.waitFor(async () => expect(await free()).toBe(1));
});

it("holds the slot of an object with a stream while a client reads it over HTTP", async () => {
  const { router, inside, free } = createApp();
  const client = createTRPCClient<typeof router>({
    links: [
      httpBatchStreamLink({
        url: "http://localhost",
        fetch: (url, init) =>
          fetchRequestHandler({
            router,
            req: new Request(url as string, init as RequestInit),
            endpoint: "",
            createContext: () => ({}),
          }),
      }),
    ],
  });
  const answer = await client.nested.mutate();
  expect(await allOf(answer.words)).toEqual(["a", "b"]);
  expect(await free()).toBe(0);
  inside.end!();
  expect(await allOf((await answer.later).more)).toEqual(["a", "b"]);
  await vi.waitFor(async () => expect(await free()).toBe(1));
});

it("frees the slot when a promise in an object fails, also if it is not read", async () => {
  const { caller, inside, free } = createApp();
  const { title } = await caller.failing();
  expect(await free()).toBe(0);
  inside.end!();
  await vi.waitFor(async () => expect(await free()).toBe(1));
  await expect(title).rejects.toThrow("broken");
});

it("frees the slot of a promise that never ends a ttl after its client has gone", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { caller, abort, free } = createApp();
    await caller.failing();
    abort.abort();
    await vi.advanceTimersByTimeAsync(29_000);
    expect(await free()).toBe(0);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await free()).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

it("gives back the very object of a procedure that has nothing to wait for", async () => {
  const { caller, found, free } = createApp();
  expect(await caller.plain()).toBe(found);
  expect(await free()).toBe(1);
});

it.each([
  ["completes", ({ complete }) => complete()],
  ["fails", ({ error }) => error(new Error("broken"))],
  ["is no longer observed", (_, unsubscribe) => unsubscribe()],
] satisfies [string, (observer: Observer<string, unknown>, unsubscribe: () => void) => void][])(
  "frees the slot when an observable %s, though the client stays",
  async (_, end) => {
    const { caller, inside, free } = createApp();
    const observed = (await caller.observe()) as unknown as Observable<string, unknown>;
    const seen: unknown[] = [];
    const subscription = observed.subscribe({
      next: (value) => void seen.push(value),
      error: () => void seen.push("failed"),
      complete: () => void seen.push("completed"),
    });
    inside.observer!.next("a");
    expect(await free()).toBe(0);
    end(inside.observer!, () => subscription.unsubscribe());
    await vi.waitFor(async () => expect(await free()).toBe(1));
    expect(seen[0]).toBe("a");
  },
);

it("frees the slot of a stream that is never read, though the request has ended well", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { router, free } = createApp();
    const request = new Request("http://localhost/stream", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    const answer = await fetchRequestHandler({
      router,
      req: request,
      endpoint: "",
      createContext: () => ({}),
    });
    expect(answer.status).toBe(415);
    expect(await free()).toBe(0);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await free()).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

it("frees the slot of an observable that is never observed when the client goes away", async () => {
  const { caller, abort, free } = createApp();
  await caller.observe();
  expect(await free()).toBe(0);
  abort.abort();
  await vi.waitFor(async () => expect(await free()).toBe(1));
});

it("holds the slot to the end of a stream", async () => {
  const { caller, free } = createApp();
  const stream = await caller.stream();
  expect(await free()).toBe(0);
  const got: string[] = [];
  for await (const part of stream) got.push(part);
  expect(got).toEqual(["a", "b"]);
  expect(await free()).toBe(1);
});

it("frees the slot when the client goes away, or stops to read", async () => {
  const { caller, abort, inside, free } = createApp();
  for await (const part of await caller.stream()) {
    expect(part).toBe("a");
    break;
  }
  expect(await free()).toBe(1);

  const following = (await caller.follow())[Symbol.asyncIterator]();
  expect(await following.next()).toMatchObject({ value: "a" });
  const next = following.next();
  await vi.waitFor(() => expect(inside.end).toBeDefined());
  abort.abort();
  // The work goes on until it looks up.
  expect(await free()).toBe(0);
  inside.end!();
  await next;
  await vi.waitFor(async () => expect(await free()).toBe(1));
});

it("takes tokens together with the slot, all or none", async () => {
  const { limiter, caller, free } = createApp();
  expect(await caller.both()).toEqual([6, 0]);
  expect(await limiter.check("tokens")).toMatchObject({ value: expect.closeTo(8, 1) as number });
  await limiter.charge("tokens", { count: 7 });
  await expect(caller.both()).rejects.toThrow('"tokens"');
  expect(await free()).toBe(1);
});

it("refuses options that make no sense, when a procedure is defined", () => {
  const { rl } = createApp();
  const errors = [
    () => rl.rateLimited(["generations", "others"]),
    () => rl.rateLimited("generations", { on: "error" }),
    () => rl.rateLimited("generations", { count: 2 }),
    () => rl.rateLimited("generations", { maxWait: -1 }),
    () => rl.rateLimited("tokens", { maxWait: 1 }),
    () => rl.rateLimited.transaction("generations"),
  ].map((define) => {
    try {
      define();
      return "no error";
    } catch (error) {
      return (error as RateLimitConfigError).message;
    }
  });
  expect(errors).toEqual([
    'a call holds a slot of one limit, got "generations" and "others"; leave one of them out',
    'on is for limits of tokens, and "generations" has slots; leave it out, or charge a limit of tokens with it',
    'count is for limits of tokens, and "generations" has slots; leave it out, or charge a limit of tokens with it',
    "maxWait must be a number of ms of at least 0, got -1",
    'maxWait is for limits of kind "concurrency", got 1; leave it out',
    'rateLimited.transaction() cannot hold a slot of "generations", which is held and released outside of the transaction; use rateLimited() for this limit, before the transaction',
  ]);
});

it.each([
  ["before it is observed", 0],
  ["while it is observed", 1],
  ["after it was observed", 2],
])("an observable whose slot is taken over %s fails then, or not at all", async (_, when) => {
  const taken = new AbortController();
  const release = vi.fn(async () => {});
  const slot = { release, signal: taken.signal, isTakenOver: true } as unknown as EnterGranted;
  const steps: string[] = [];
  const source = observable<string>(() => () => void steps.push("ended"));
  const answer = { signal: new AbortController().signal, isSubscription: true, patience: 0 };
  const result = { ok: true, data: source } as unknown as Parameters<typeof releasedAfter>[0];
  const held = await releasedAfter(result, slot, answer);
  if (when === 0) taken.abort();
  const { data } = held as unknown as { data: typeof source };
  const observed = data.subscribe({
    error: (error) => void steps.push((error as { code: string }).code),
  });
  if (when === 1) taken.abort();
  observed.unsubscribe();
  if (when === 2) taken.abort();
  expect(steps).toEqual(when === 2 ? ["ended"] : ["ended", "CONFLICT"]);
});

it("a stream whose slot is taken over between two steps fails at the next one, and has then ended", async () => {
  const taken = new AbortController();
  const release = vi.fn(async () => {});
  async function* words() {
    yield "a";
    yield "b";
  }
  const slot = { release, lost: taken.signal, isTakenOver: () => true };
  const stream = holdingSlot(words(), slot, undefined, MINUTE, (word) => word);
  const steps = stream[Symbol.asyncIterator]();
  expect(await steps.next()).toEqual({ done: false, value: "a" });
  taken.abort();
  await expect(steps.next()).rejects.toMatchObject({ code: "CONFLICT" });
  expect(await steps.next()).toMatchObject({ done: true });
  expect(release).toHaveBeenCalled();
});
