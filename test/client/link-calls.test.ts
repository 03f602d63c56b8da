/** The link before a server in the test's own hands, on fake timers. */
import { TRPCClientError } from "@trpc/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { isRateLimitError } from "../../client/index.js";
import { answer, NAME, refuse, startLinked, startRefused } from "../support/hand-link.js";
import { pass } from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

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
