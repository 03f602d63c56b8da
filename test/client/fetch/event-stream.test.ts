import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { readEventStream } from "../../../client/fetch/event-stream.js";
import { pass, snapshotOf } from "../../support/hand-transport.js";
import { createEventSources } from "../../support/stub-event-source.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

const init = { withCredentials: false, fetch: globalThis.fetch };

function open() {
  const { EventSource } = createEventSources();
  const source = new EventSource("/limits", init);
  const handlers = { onSnapshot: vi.fn(), onLost: vi.fn(), onEnded: vi.fn() };
  return { source, ...handlers, close: readEventStream(source, handlers) };
}

/** It ends, and closes its source, once these ms have passed. */
async function endsAfter({ source, onEnded }: ReturnType<typeof open>, ms: number): Promise<void> {
  await pass(ms - 1);
  expect(onEnded).not.toHaveBeenCalled();
  await pass(1);
  expect(onEnded).toHaveBeenCalledTimes(1);
  expect(source.isClosed).toBe(true);
}

it("hands on snapshots, and drops what is no JSON", () => {
  const { source, onSnapshot, onEnded } = open();
  source.sendText("<html>");
  source.sendText("");
  source.send(snapshotOf("a", 3));
  expect(onSnapshot.mock.calls).toEqual([[snapshotOf("a", 3)]]);
  expect(onEnded).not.toHaveBeenCalled();
});

it("is lost while it connects anew, and ended once it gave up", () => {
  const { source, onLost, onEnded } = open();
  source.fail(0);
  source.fail(0);
  expect([onLost.mock.calls.length, onEnded.mock.calls.length]).toEqual([2, 0]);
  source.fail(2);
  source.fail(2);
  expect([onLost.mock.calls.length, onEnded.mock.calls.length]).toEqual([2, 1]);
});

it("ends when it never opens", async () => {
  await endsAfter(open(), 45_000);
});

it("ends after 2.5 pings without any event", async () => {
  const opened = open();
  const { source } = opened;
  source.ping();
  for (let ping = 0; ping < 3; ping++) {
    await pass(15_000);
    source.ping();
  }
  await pass(37_000);
  source.send(snapshotOf("a", 3));
  await endsAfter(opened, 37_500);
});

it("takes pings that arrive together for no faster rate", async () => {
  const opened = open();
  const { source, onEnded } = opened;
  source.ping();
  source.ping();
  await pass(4999);
  expect(onEnded).not.toHaveBeenCalled();
  source.ping();
  await pass(10_000);
  source.ping();
  source.ping();
  await endsAfter(opened, 25_000);
});

it("does not learn a rate from the time between two connections", async () => {
  const opened = open();
  const { source } = opened;
  source.ping();
  await pass(40_000);
  source.fail(0);
  source.ping();
  await pass(4000);
  source.ping();
  await endsAfter(opened, 10_000);
});

it("says nothing after it was closed", async () => {
  const { source, onSnapshot, onLost, onEnded, close } = open();
  source.ping();
  close();
  expect(source.isClosed).toBe(true);
  source.send(snapshotOf("a", 3));
  source.ping();
  source.fail(0);
  await pass(100_000);
  for (const handler of [onSnapshot, onLost, onEnded]) expect(handler).not.toHaveBeenCalled();
});
