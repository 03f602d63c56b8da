/** For a client, calls over `postMessage` behave like calls over HTTP. */
import { createTRPCClient, TRPCClientError } from "@trpc/client";
import { initTRPC, tracked, TRPCError } from "@trpc/server";
import { memoryStore, createRateLimiter, MINUTE } from "trpc-rate-limit/server";
import { createRateLimitTRPC, formatRateLimitError } from "trpc-rate-limit/trpc";
import { isRateLimitError } from "trpc-rate-limit/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { answerCalls, type CallMessage } from "../../../site/app/answer-calls.js";
import { portLink } from "../../../site/app/port-link.js";

function createRouter() {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { send: { kind: "token bucket", rate: 1, period: MINUTE, capacity: 2 } },
  });
  const t = initTRPC.context<{ visitor: string }>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.visitor });
  const signals: AbortSignal[] = [];
  const ended: string[] = [];
  const router = t.router({
    rateLimit: rl.router,
    hello: t.procedure
      .input(z.object({ name: z.string().optional() }))
      .query(({ ctx, input }) => ({ from: ctx.visitor, to: input.name, at: new Date(0) })),
    nothing: t.procedure.mutation(() => {}),
    send: t.procedure.use(rl.rateLimited("send")).mutation(({ ctx }) => ctx.rateLimit.value),
    slow: t.procedure.query(({ signal }) => {
      signals.push(signal!);
      return new Promise<never>(() => {});
    }),
    count: t.procedure.input(z.object({ to: z.number() })).subscription(async function* ({
      input,
    }) {
      for (let i = 1; i <= input.to; i++) yield tracked(String(i), { count: i });
    }),
    endless: t.procedure.subscription(async function* ({ signal }) {
      try {
        yield 1;
        await new Promise((resolve) => signal!.addEventListener("abort", resolve));
      } finally {
        ended.push("endless");
      }
    }),
    // eslint-disable-next-line require-yield -- fails before its first value
    forbidden: t.procedure.subscription(async function* () {
      if (ended.length >= 0) throw new TRPCError({ code: "FORBIDDEN", message: "not for you" });
      yield 1;
    }),
    flaky: t.procedure.subscription(async function* () {
      signals.push(new AbortController().signal);
      if (signals.length === 1) throw new TRPCError({ code: "BAD_GATEWAY", message: "again" });
      yield "here";
    }),
  });
  return { router, signals, ended };
}

describe("a client whose server is behind a port", () => {
  let channel: MessageChannel;
  let served: ReturnType<typeof createRouter>;
  let posted: unknown[];
  const clientOf = () =>
    createTRPCClient<typeof served.router>({ links: [portLink(channel.port1)] });
  let client: ReturnType<typeof clientOf>;

  beforeEach(() => {
    channel = new MessageChannel();
    served = createRouter();
    posted = [];
    channel.port2.addEventListener("message", ({ data }) => posted.push(data));
    answerCalls(channel.port2, served.router, () => ({ visitor: "Ada" }));
    client = clientOf();
    channel.port1.start();
    channel.port2.start();
  });
  afterEach(() => channel.port1.close());

  it("gets the answers of queries and mutations as JSON carries them", async () => {
    const [hello, nothing] = await Promise.all([
      client.hello.query({ name: "Bo" }),
      client.nothing.mutate(),
    ]);
    expect(hello).toEqual({ from: "Ada", to: "Bo", at: "1970-01-01T00:00:00.000Z" });
    expect(nothing).toBeUndefined();
    expect(Object.keys(await client.hello.query({}))).toEqual(["from", "at"]);
  });

  it("gets the errors that the server formats, denials among them", async () => {
    await client.send.mutate();
    await client.send.mutate();
    const error: unknown = await client.send.mutate().catch((reason: unknown) => reason);
    expect(isRateLimitError(error)).toBe(true);
    expect(error).toMatchObject({
      data: { code: "TOO_MANY_REQUESTS", httpStatus: 429, path: "send" },
      shape: { code: -32029 },
    });
    expect(isRateLimitError(error) && error.data.rateLimit).toMatchObject({ name: "send" });
  });

  it("gets the errors of calls that cannot be made", async () => {
    const wrong = client.hello.query({ name: 1 as never });
    await expect(wrong).rejects.toMatchObject({ data: { code: "BAD_REQUEST", httpStatus: 400 } });
    const missing = (client as unknown as { none: { query(): Promise<unknown> } }).none.query();
    await expect(missing).rejects.toMatchObject({ data: { code: "NOT_FOUND" } });
  });

  it("leaves no call behind when its page leaves", async () => {
    await new Promise<void>((resolve) => {
      client.endless.subscribe(undefined, { onData: () => resolve() });
    });
    void client.slow.query().catch(() => {});
    await vi.waitFor(() => expect(served.signals).toHaveLength(1));
    channel.port1.postMessage({ type: "leave" } satisfies CallMessage);
    await vi.waitFor(() => expect(served.ended).toEqual(["endless"]));
    expect(served.signals[0]!.aborted).toBe(true);
    expect(await client.hello.query({})).toMatchObject({ from: "Ada" });
  });

  it("gives up a call whose signal is aborted, and the server hears of it", async () => {
    const controller = new AbortController();
    const call = client.slow.query(undefined, { signal: controller.signal });
    await vi.waitFor(() => expect(served.signals).toHaveLength(1));
    controller.abort();
    await expect(call).rejects.toBeInstanceOf(TRPCClientError);
    await vi.waitFor(() => expect(served.signals[0]!.aborted).toBe(true));
  });

  it("does not send a call whose signal is aborted already", async () => {
    const call = client.slow.query(undefined, { signal: AbortSignal.abort() });
    await expect(call).rejects.toBeInstanceOf(TRPCClientError);
    await client.nothing.mutate();
    expect(posted).toMatchObject([{ path: "nothing" }]);
  });

  it("stops no call that has its answer", async () => {
    await client.nothing.mutate();
    await client.nothing.mutate();
    expect(posted).toMatchObject([{ type: "mutation" }, { type: "mutation" }]);
  });

  it("gets the values of a subscription in their order, with their ids, and its end", async () => {
    const events: unknown[] = [];
    await new Promise<void>((resolve, reject) => {
      client.count.subscribe(
        { to: 3 },
        {
          onStarted: () => events.push("started"),
          onConnectionStateChange: ({ state }) => events.push(state),
          onData: (value) => events.push(value),
          onComplete: resolve,
          onError: reject,
        },
      );
    });
    const values = [1, 2, 3].map((count) => ({ id: String(count), data: { count } }));
    expect(events).toEqual(["connecting", "started", "pending", ...values]);
  });

  it("ends a subscription on the server when nobody listens any more", async () => {
    const values: unknown[] = [];
    const { unsubscribe } = client.endless.subscribe(undefined, {
      onData: (value) => values.push(value),
    });
    await vi.waitFor(() => expect(values).toEqual([1]));
    unsubscribe();
    await vi.waitFor(() => expect(served.ended).toEqual(["endless"]));
  });

  it("gets the error of a subscription that the server refuses", async () => {
    const error = await new Promise((onError) =>
      client.forbidden.subscribe(undefined, { onError }),
    );
    expect(error).toMatchObject({ message: "not for you", data: { httpStatus: 403 } });
  });

  it("hears why a subscription begins again", async () => {
    const states: unknown[] = [];
    const value = await new Promise((onData) =>
      client.flaky.subscribe(undefined, {
        onData,
        onConnectionStateChange: ({ state, error }) => states.push([state, error?.data?.code]),
      }),
    );
    expect(value).toBe("here");
    expect(states).toEqual([
      ["connecting", undefined],
      ["pending", undefined],
      ["connecting", "BAD_GATEWAY"],
      ["pending", undefined],
    ]);
  });

  it("streams what a limit holds, and its changes", async () => {
    const values: number[] = [];
    const { unsubscribe } = client.rateLimit.watch.subscribe(
      { items: [{ name: "send" }] },
      { onData: ({ value }) => values.push(value) },
    );
    await vi.waitFor(() => expect(values).toHaveLength(1));
    await client.send.mutate();
    await vi.waitFor(() => expect(values.map(Math.floor)).toEqual([2, 1]));
    unsubscribe();
  });
});

describe("a server that cannot be loaded", () => {
  /** The page's side of a worker that only has events. */
  const openPort = () =>
    Object.assign(new EventTarget() as Pick<Worker, keyof EventTarget>, { postMessage() {} });
  type Router = ReturnType<typeof createRouter>["router"];

  it("fails the calls that wait for it, and the later ones", async () => {
    const port = openPort();
    const client = createTRPCClient<Router>({ links: [portLink(port)] });
    const waiting = client.hello.query({});
    port.dispatchEvent(new Event("error"));
    await expect(waiting).rejects.toThrow("The server of this page could not be loaded");
    await expect(client.nothing.mutate()).rejects.toThrow("could not be loaded");
    const onError = vi.fn();
    client.endless.subscribe(undefined, { onError });
    expect(onError).toHaveBeenCalledOnce();
  });

  it("does not take an error of one that has answered for that", async () => {
    const port = openPort();
    const client = createTRPCClient<Router>({ links: [portLink(port)] });
    const hello = client.hello.query({});
    const answer = { id: 0, type: "complete" };
    port.dispatchEvent(new MessageEvent("message", { data: answer }));
    port.dispatchEvent(new Event("error"));
    const data = { id: 1, type: "next", result: { type: "data", data: { to: "you" } } };
    port.dispatchEvent(new MessageEvent("message", { data }));
    port.dispatchEvent(new MessageEvent("message", { data: { id: 1, type: "complete" } }));
    expect(await hello).toEqual({ to: "you" });
  });
});
