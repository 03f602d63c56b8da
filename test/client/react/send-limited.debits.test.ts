/** How a call changes the observer's tokens, before any answer about the limit itself. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type LimitedCall, sendLimited } from "../../../client/react/send-limited.js";
import { createHeldCalls } from "../../../client/react/held-calls.js";
import { RateLimitError } from "../../../core/errors.js";
import { CONFIG, pass, snapshotOf, startLive } from "../../support/hand-transport.js";

const item = { name: "a" };

beforeEach(() => void vi.useFakeTimers({ now: 1e12 }));
afterEach(() => void vi.useRealTimers());

/** A page that knows of three tokens. Its server sends nothing more by itself. */
async function startSending(options: Partial<LimitedCall> = {}) {
  const { observer, requests, streams } = await startLive(3);
  await pass(100);
  requests.length = 0;
  const queue = createHeldCalls(observer, item, () => {});
  const call: LimitedCall = {
    observer,
    item,
    queue,
    whenLimited: "reject",
    on: "call",
    count: 1,
    ...options,
  };
  const left = () => Math.floor(observer.check(item, Date.now(), 0)!.value);
  return {
    observer,
    left,
    streams,
    asked: () => requests.length,
    /** Sends a call that the test answers or fails. */
    send() {
      let [succeed, fail] = [() => {}, (_error: unknown) => {}];
      const answer = new Promise<string>((resolve, reject) => {
        [succeed, fail] = [() => resolve("sent"), reject];
      });
      const sent = sendLimited(() => answer, call).catch((error: unknown) => error);
      return { succeed, fail, sent };
    },
  };
}

function denial(name: string, facts: object = {}): RateLimitError {
  const known = { kind: "RateLimited" as const, config: CONFIG, retryAfter: 1000, value: 0 };
  return new RateLimitError({ ...known, name, now: Date.now(), ...facts });
}

it("counts a call from when it is sent until the server reports it", async () => {
  const { left, asked, send, streams } = await startSending();
  const { succeed, sent } = send();
  await pass(1);
  expect([left(), asked()]).toEqual([2, 0]);
  succeed();
  expect(await sent).toBe("sent");
  await pass(1);
  expect([left(), asked()]).toEqual([2, 0]);
  streams[0]!.onSnapshot(snapshotOf("a", 2));
  expect(left()).toBe(2);
});

const answered = Object.assign(new Error("conflict"), { data: { code: "CONFLICT" } });

it.each<[what: string, charged: "calls" | "failures", of: () => unknown, rest: number]>([
  ["no answer", "calls", () => new Error("no network"), 3],
  ["no answer", "calls", () => ({ data: null }), 3],
  ["nothing at all", "calls", () => undefined, 3],
  ["another answer", "calls", () => answered, 2],
  ["a denial of another limit", "calls", () => denial("b"), 3],
  ["no answer", "failures", () => new Error("no network"), 3],
  ["another answer", "failures", () => answered, 2],
  ["a denial of another limit", "failures", () => denial("b"), 3],
])("%s, where %s are charged for, costs what it should", async (_, charged, of, rest) => {
  const { left, asked, observer, send } = await startSending({
    on: charged === "failures" ? "error" : "call",
  });
  const { fail, sent } = send();
  await pass(1);
  expect(left()).toBe(charged === "failures" ? 3 : 2);
  const error = of();
  fail(error);
  expect(await sent).toBe(error);
  expect(left()).toBe(rest);
  await pass(1);
  expect(asked()).toBe(1);
  expect(observer.status(item, 1)?.ok).toBe(true);
});

it("charges a failure for good", async () => {
  const { left, observer, send } = await startSending({ on: "error" });
  const { fail, sent } = send();
  fail(answered);
  await sent;
  // Read after the charge, so it includes the charge.
  observer.receive(snapshotOf("a", 2));
  expect(left()).toBe(2);
});

it("learns from a denial how long a call of this count waits", async () => {
  const { observer, send } = await startSending({ count: 2 });
  const { fail, sent } = send();
  fail(denial("a", { value: 1 }));
  await sent;
  expect(observer.status(item, 1)?.ok).toBe(true);
  expect(observer.status(item, 2)).toEqual({ ok: false, retryAt: Date.now() + 1000 });
});

it("passes on the server's denial when it does not wait", async () => {
  const { send } = await startSending();
  const { fail, sent } = send();
  const error = denial("a");
  fail(error);
  expect(await sent).toBe(error);
});

it("a call that comes back goes before those that came after it", async () => {
  const { observer } = await startSending();
  observer.receive(snapshotOf("a", 1));
  const queue = createHeldCalls(observer, item, () => {});
  const order: string[] = [];
  let deny = () => {};
  const send = (name: string) =>
    sendLimited(
      () => {
        order.push(name);
        if (order.length > 1) return Promise.resolve(name);
        return new Promise<string>((_, reject) => (deny = () => reject(denial("a"))));
      },
      { observer, item, queue, whenLimited: "wait", on: "call", count: 1 },
    );
  const sent = Promise.all([send("first"), send("late")]);
  await pass(10);
  deny();
  await pass(1000);
  observer.receive(snapshotOf("a", 3));
  await pass(1000);
  expect(order).toEqual(["first", "first", "late"]);
  await sent;
});
