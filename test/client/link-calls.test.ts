/** The link before a server in the test's own hands, on fake timers. */
import { createTRPCClient, TRPCClientError, type TRPCLink } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { observable, type Observer } from "@trpc/server/observable";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  createRateLimitObserver,
  createTRPCTransport,
  isRateLimitError,
  rateLimitLink,
  type RateLimitLinkOptions,
} from "../../client/index.js";
import { saying } from "../support/hand-transport.js";

const config = { kind: "token bucket", rate: 1, period: 1000, capacity: 5 } as const;
const NAME = "a";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

interface Sent extends Observer<unknown, unknown> {
  input: unknown;
  isGone: boolean;
}

/** A client whose calls get to the test, which answers them. */
function startLinked(options: RateLimitLinkOptions = {}) {
  const sent: Sent[] = [];
  const end: TRPCLink<AnyTRPCRouter> =
    () =>
    ({ op }) =>
      observable((observer) => {
        const call = { ...(observer as Sent), input: op.input, isGone: false };
        if (op.path === "take") sent.push(call);
        return () => void (call.isGone = true);
      });
  const client = createTRPCClient<AnyTRPCRouter>({
    links: [
      rateLimitLink({ clock: () => Date.now(), jitter: 0, limits: { take: NAME }, ...options }),
      end,
    ],
  });
  const { take } = client as never as {
    take: { mutate(input: unknown, options?: { signal: AbortSignal }): Promise<unknown> };
  };
  return {
    client,
    sent,
    inputs: () => sent.map(({ input }) => input),
    /** What becomes of a call: what it is answered, or the error. */
    take: (input: unknown, signal?: AbortSignal) =>
      take
        .mutate(input, ...(signal ? [{ signal }] : []))
        .catch((error: unknown) => error as TRPCClientError<AnyTRPCRouter>),
  };
}

function answer(call: Sent | undefined): void {
  call!.next({ result: { type: "data", data: "done" } });
  call!.complete();
}

/** An error as the server sends it. */
function refuse(call: Sent | undefined, retryAfter: number, facts: object = {}): void {
  const rateLimit = { kind: "RateLimited", name: NAME, retryAfter, value: 0, config };
  const data = { rateLimit: { ...rateLimit, now: Date.now(), ...facts } };
  call!.error(TRPCClientError.from({ error: { code: -32029, message: "no", data } } as never));
}

/** A limit that is known to be empty for a second. */
async function startRefused(options: RateLimitLinkOptions = {}) {
  const linked = startLinked({ whenRefused: "wait", ...options });
  const first = linked.take("first");
  refuse(linked.sent[0], 1000);
  expect(await first).toSatisfy(isRateLimitError);
  linked.sent.length = 0;
  return linked;
}

it.each([
  ["without a config", { config: undefined }],
  ["with a config that is none", { config: null }],
  ["without a time", { now: undefined }],
])("hands on a refusal %s, and holds no later call for it", async (_, facts) => {
  const { sent, take } = startLinked({ whenRefused: "wait" });
  const failed = take(1);
  refuse(sent[0], 1000, facts);
  expect(await failed).toBeInstanceOf(TRPCClientError);
  const next = take(2);
  answer(sent[1]);
  expect(await next).toBe("done");
});

it("sends one held call after the other, each when there is enough for it", async () => {
  const { inputs, take } = await startRefused();
  for (const call of [1, 2, 3]) void take(call);
  await pass(999);
  expect(inputs()).toEqual([]);
  await pass(1);
  expect(inputs()).toEqual([1]);
  // Until it is answered, the next one counts from when it was sent; nobody answers here.
  await pass(999);
  expect(inputs()).toEqual([1]);
  await pass(1);
  expect(inputs()).toEqual([1, 2]);
  await pass(1000);
  expect(inputs()).toEqual([1, 2, 3]);
  expect(vi.getTimerCount()).toBe(0);
});

it("forgets a queue that is empty, so that nobody waits behind nobody", async () => {
  const { inputs, take } = await startRefused();
  void take(1);
  await pass(3000);
  void take(2);
  expect(inputs()).toEqual([1, 2]);
});

it("a call that nothing is known against queues up behind those that wait", async () => {
  const limits = ({ input }: { input: unknown }) => ({ name: NAME, count: input as number });
  const { inputs, sent, take } = startLinked({ whenRefused: "wait", limits });
  const first = take(3);
  refuse(sent[0], 2000, { value: 1 });
  await first;
  void take(3);
  void take(1);
  await pass(1999);
  expect(inputs()).toEqual([3]);
  await pass(1);
  expect(inputs()).toEqual([3, 3]);
});

it("the one behind a call that is aborted moves up at once", async () => {
  const limits = ({ input }: { input: unknown }) => ({ name: NAME, count: input as number });
  const { inputs, sent, take } = startLinked({ whenRefused: "wait", limits });
  const first = take(3);
  refuse(sent[0], 2000, { value: 1 });
  await first;
  const aborting = new AbortController();
  const remove = vi.spyOn(aborting.signal, "removeEventListener");
  const held = take(3, aborting.signal);
  void take(1);
  aborting.abort(new Error("no longer wanted"));
  expect(inputs()).toEqual([3, 1]);
  expect(await held).toMatchObject({ message: "no longer wanted" });
  expect(remove).toHaveBeenCalled();
});

it.each(["sent", "failed"])("leaves no listener behind on a call that is %s", async (how) => {
  const { sent, take } = await startRefused(how === "failed" ? { maxWait: 500 } : {});
  const { signal } = new AbortController();
  const add = vi.spyOn(signal, "addEventListener");
  const remove = vi.spyOn(signal, "removeEventListener");
  const call = take(1, signal);
  await pass(1000);
  // Before it is answered: what is sent is for the links that send to abort.
  expect(remove.mock.calls.map(([type, listener]) => [type, listener])).toEqual(
    add.mock.calls.map(([type, listener]) => [type, listener]),
  );
  if (how === "sent") answer(sent[0]);
  expect(how === "sent" ? await call : isRateLimitError(await call)).toBe(
    how === "sent" ? "done" : true,
  );
});

it("a call that is aborted before it is made is for those to fail who send", async () => {
  const { inputs, take } = await startRefused({ whenRefused: "fail" });
  void take(1, AbortSignal.abort());
  expect(inputs()).toEqual([1]);
});

it("waits for as long as it may, to the ms", async () => {
  const { inputs, take } = await startRefused({ maxWait: 1000, jitter: 500 });
  vi.spyOn(Math, "random").mockReturnValue(0.9);
  const held = take(1);
  const late = take(2);
  await pass(999);
  expect(inputs()).toEqual([]);
  await pass(1);
  vi.restoreAllMocks();
  // Not after its time, whatever the jitter.
  expect(inputs()).toEqual([1]);
  expect(await late).toSatisfy(isRateLimitError);
  void held;
});

it("keeps out of what is said to have no limit", async () => {
  let isLimited = false;
  const linked = startLinked({
    whenRefused: "fail",
    limits: () => (isLimited ? NAME : null),
  });
  const refused = linked.take(1);
  refuse(linked.sent[0], 1000);
  await refused;
  isLimited = true;
  void linked.take(2);
  expect(linked.inputs()).toEqual([1, 2]);
});

it.each(["data", "an error"])("settles what a held call took with %s", async (how) => {
  const item = { name: NAME };
  const { client, sent, take } = startLinked({ whenRefused: "wait" });
  const transport = { ...createTRPCTransport(client, "rateLimit"), watch: () => () => {} };
  let asked = 0;
  const status = async () => {
    asked++;
    return saying(NAME, 5, { config });
  };
  const observer = createRateLimitObserver({
    clock: () => Date.now(),
    pollInterval: 60_000,
    transport: { ...transport, status },
  });
  observer.observe(item, 1, () => {});
  await pass(10);
  observer.receive(saying(NAME, 0, { config }));
  const held = take(1);
  await pass(1000);
  expect(observer.left(item)).toBe(0);
  const before = asked;
  if (how === "data") answer(sent[0]);
  else sent[0]!.error(new TRPCClientError("no network"));
  await held;
  await pass(10);
  // Only the server knows.
  expect([asked, observer.left(item)]).toEqual([before + 1, 5]);
  observer.close();
});
