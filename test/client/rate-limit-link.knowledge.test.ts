/** The link's knowledge of limits, from denials and from observers, on fake timers. */
import { TRPCClientError } from "@trpc/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { isRateLimitError } from "../../client/index.js";
import { answer, NAME, observe, deny, startLinked, startDenied } from "../support/hand-link.js";
import { pass } from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

it.each([
  ["data", startLinked],
  ["data", startDenied],
  ["an error", startLinked],
  ["nothing, as it cannot be sent", startLinked],
] as const)("settles what a held call took with %s", async (how, start) => {
  const linked = await start({ whenLimited: "wait" });
  using page = await observe(linked, 0);
  const held = linked.take(1);
  linked.sending.isBroken = how.startsWith("nothing");
  await pass(1000);
  const { sent, sending } = linked;
  if (how === "data") answer(sent[0]);
  else if (!sending.isBroken) {
    expect([page.requestCount(), page.remaining()]).toEqual([0, 0]);
    sent[0]!.error(new TRPCClientError("no network"));
  }
  await held;
  await pass(10);
  // Only the server knows.
  expect([page.requestCount(), page.remaining()]).toEqual([1, 5]);
});

it("sends held calls soon after their limit is available early", async () => {
  const linked = startLinked({ whenLimited: "wait", jitter: 500 });
  using page = await observe(linked, -9);
  void linked.take(1);
  await pass(2000);
  expect(linked.inputs()).toEqual([]);
  page.push(5);
  await pass(1500);
  expect(linked.inputs()).toEqual([1]);
});

it("asks no observer about a call that only an old denial connects with a limit", async () => {
  const linked = await startDenied({ whenLimited: "reject", limits: {} });
  using page = await observe(linked, 0);
  expect(await linked.take(1)).toSatisfy(isRateLimitError);
  await pass(1000);
  page.push(-5);
  void linked.take(2);
  expect(linked.inputs()).toEqual([2]);
});

it("learns about the declared limit and key, and about no other call", async () => {
  const keyed = { name: NAME, key: "k" };
  const limits = ({ input }: { input: unknown }) => (input === "other" ? undefined : keyed);
  const { take, inputs } = await startDenied({ whenLimited: "reject", limits });
  expect(await take(1)).toSatisfy(isRateLimitError);
  void take("other");
  expect(inputs()).toEqual(["other"]);
});

it("learns about a limit that is not the declared one, and still uses the declared one", async () => {
  const { take, sent, inputs } = startLinked({ whenLimited: "reject" });
  const denied = take(1);
  deny(sent[0], 1000, { name: "another" });
  await denied;
  void take(2);
  expect(inputs()).toEqual([1, 2]);
});

it("closes the request when its subscriber leaves", () => {
  const { client, sent } = startLinked();
  const { take } = client as never as {
    take: { subscribe(input: unknown, handlers: object): { unsubscribe(): void } };
  };
  take.subscribe(1, {}).unsubscribe();
  expect(sent[0]!.isAborted).toBe(true);
});

it("judges the call after one that had to wait by what that one took", async () => {
  const linked = startLinked({ whenLimited: "wait" });
  using page = await observe(linked, 0);
  void linked.take(1);
  await pass(1000);
  expect([linked.inputs(), page.remaining()]).toEqual([[1], 0]);
  void linked.take(2);
  expect(linked.inputs()).toEqual([1]);
});
