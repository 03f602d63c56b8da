/** The link, with a server that the test controls, on fake timers. */
import { TRPCClientError } from "@trpc/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { isRateLimitError } from "../../client/index.js";
import { answer, NAME, deny, startLinked, startDenied } from "../support/hand-link.js";
import { pass } from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

it.each([
  ["without a config", { config: undefined }],
  ["with a config of null", { config: null }],
  ["without a time", { now: undefined }],
])("passes on a denial %s, and holds no later call because of it", async (_, facts) => {
  const { sent, take } = startLinked({ whenLimited: "wait" });
  const failed = take(1);
  deny(sent[0], 1000, facts);
  expect(await failed).toBeInstanceOf(TRPCClientError);
  const next = take(2);
  answer(sent[1]);
  expect(await next).toBe("done");
});

it("sends one held call after the other, each when there is enough for it", async () => {
  const { inputs, take } = await startDenied();
  for (const call of [1, 2, 3]) void take(call);
  await pass(999);
  expect(inputs()).toEqual([]);
  await pass(1);
  expect(inputs()).toEqual([1]);
  // Until an answer, the next call counts from when this one was sent; here no answer comes.
  await pass(999);
  expect(inputs()).toEqual([1]);
  await pass(1);
  expect(inputs()).toEqual([1, 2]);
  await pass(1000);
  expect(inputs()).toEqual([1, 2, 3]);
  expect(vi.getTimerCount()).toBe(0);
});

it("sends at once when its queue is empty again", async () => {
  const { inputs, take } = await startDenied();
  void take(1);
  await pass(3000);
  void take(2);
  expect(inputs()).toEqual([1, 2]);
});

it("queues a call behind those that wait, even if no denial is known for it", async () => {
  const limits = ({ input }: { input: unknown }) => ({ name: NAME, count: input as number });
  const { inputs, sent, take } = startLinked({ whenLimited: "wait", limits });
  const first = take(3);
  deny(sent[0], 2000, { value: 1 });
  await first;
  void take(3);
  void take(1);
  await pass(1999);
  expect(inputs()).toEqual([3]);
  await pass(1);
  expect(inputs()).toEqual([3, 3]);
});

it("moves a call up at once when the call ahead is aborted", async () => {
  const limits = ({ input }: { input: unknown }) => ({ name: NAME, count: input as number });
  const { inputs, sent, take } = startLinked({ whenLimited: "wait", limits });
  const first = take(3);
  deny(sent[0], 2000, { value: 1 });
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
  const { sent, take } = await startDenied(how === "failed" ? { maxWait: 500 } : {});
  const { signal } = new AbortController();
  const add = vi.spyOn(signal, "addEventListener");
  const remove = vi.spyOn(signal, "removeEventListener");
  const call = take(1, signal);
  await pass(1000);
  // Before the answer: a call that was sent is aborted by the links that send.
  expect(remove.mock.calls.map(([type, listener]) => [type, listener])).toEqual(
    add.mock.calls.map(([type, listener]) => [type, listener]),
  );
  if (how === "sent") answer(sent[0]);
  expect(how === "sent" ? await call : isRateLimitError(await call)).toBe(
    how === "sent" ? "done" : true,
  );
});

it("passes on a call that is aborted before it is made", async () => {
  const { inputs, take } = await startDenied({ whenLimited: "reject" });
  void take(1, AbortSignal.abort());
  expect(inputs()).toEqual([1]);
});

it("waits for as long as maxWait allows, to the ms", async () => {
  const { inputs, take } = await startDenied({ maxWait: 1000, jitter: 500 });
  vi.spyOn(Math, "random").mockReturnValue(0.9);
  const held = take(1);
  const late = take(2);
  await pass(999);
  expect(inputs()).toEqual([]);
  await pass(1);
  vi.restoreAllMocks();
  // Not after maxWait, whatever the jitter.
  expect(inputs()).toEqual([1]);
  expect(await late).toSatisfy(isRateLimitError);
  void held;
});

it("ignores a call that is declared to have no limit", async () => {
  let isLimited = false;
  const linked = startLinked({
    whenLimited: "reject",
    limits: () => (isLimited ? NAME : null),
  });
  const denied = linked.take(1);
  deny(linked.sent[0], 1000);
  await denied;
  isLimited = true;
  void linked.take(2);
  expect(linked.inputs()).toEqual([1, 2]);
});
