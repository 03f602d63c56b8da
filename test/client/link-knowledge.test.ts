/** What the link knows of limits, from refusals and from observers, on fake timers. */
import { TRPCClientError } from "@trpc/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { isRateLimitError } from "../../client/index.js";
import { answer, NAME, observe, refuse, startLinked, startRefused } from "../support/hand-link.js";
import { pass } from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

it.each([
  ["data", startLinked],
  ["data", startRefused],
  ["an error", startLinked],
  ["nothing, as it cannot be sent", startLinked],
] as const)("settles what a held call took with %s", async (how, start) => {
  const linked = await start({ whenRefused: "wait" });
  using page = await observe(linked, 0);
  const held = linked.take(1);
  linked.sending.isBroken = how.startsWith("nothing");
  await pass(1000);
  const { sent, sending } = linked;
  if (how === "data") answer(sent[0]);
  else if (!sending.isBroken) {
    expect([page.asked(), page.left()]).toEqual([0, 0]);
    sent[0]!.error(new TRPCClientError("no network"));
  }
  await held;
  await pass(10);
  // Only the server knows.
  expect([page.asked(), page.left()]).toEqual([1, 5]);
});

it("lets held calls go soon after their limit has opened early", async () => {
  const linked = startLinked({ whenRefused: "wait", jitter: 500 });
  using page = await observe(linked, -9);
  void linked.take(1);
  await pass(2000);
  expect(linked.inputs()).toEqual([]);
  page.tell(5);
  await pass(1500);
  expect(linked.inputs()).toEqual([1]);
});

it("asks no observer about a call that only an old refusal connects with a limit", async () => {
  const linked = await startRefused({ whenRefused: "fail", limits: {} });
  using page = await observe(linked, 0);
  expect(await linked.take(1)).toSatisfy(isRateLimitError);
  await pass(1000);
  page.tell(-5);
  void linked.take(2);
  expect(linked.inputs()).toEqual([2]);
});

it("learns of the limit and the key that were given, and of no other call", async () => {
  const keyed = { name: NAME, key: "k" };
  const limits = ({ input }: { input: unknown }) => (input === "other" ? undefined : keyed);
  const { take, inputs } = await startRefused({ whenRefused: "fail", limits });
  expect(await take(1)).toSatisfy(isRateLimitError);
  void take("other");
  expect(inputs()).toEqual(["other"]);
});

it("learns of a limit that is not the one that was given, and goes on by the given one", async () => {
  const { take, sent, inputs } = startLinked({ whenRefused: "fail" });
  const refused = take(1);
  refuse(sent[0], 1000, { name: "another" });
  await refused;
  void take(2);
  expect(inputs()).toEqual([1, 2]);
});

it("hangs up when nobody listens any more", () => {
  const { client, sent } = startLinked();
  const { take } = client as never as {
    take: { subscribe(input: unknown, handlers: object): { unsubscribe(): void } };
  };
  take.subscribe(1, {}).unsubscribe();
  expect(sent[0]!.isGone).toBe(true);
});

it("judges the call after one that had to wait by what that one took", async () => {
  const linked = startLinked({ whenRefused: "wait" });
  using page = await observe(linked, 0);
  void linked.take(1);
  await pass(1000);
  expect([linked.inputs(), page.left()]).toEqual([[1], 0]);
  void linked.take(2);
  expect(linked.inputs()).toEqual([1]);
});
