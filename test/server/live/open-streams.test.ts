import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { OpenStreams } from "../../../server/live/open-streams.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const keys = new Set(["ada"]);

it("a stream counts for each of its keys until it ends", () => {
  const open = new OpenStreams();
  const end = open.add(new Set(["ada", "bob"]));
  open.add(keys);
  expect([open.count("ada"), open.count("bob"), open.count("eve")]).toEqual([2, 1, 0]);
  vi.advanceTimersByTime(3_600_000);
  end();
  expect([open.count("ada"), open.count("bob")]).toEqual([1, 0]);
});

it("a stream of a caller without a key counts with the others of them", () => {
  const open = new OpenStreams();
  const ends = [open.add(new Set()), open.add(new Set(), { requested: 2 })];
  open.add(keys);
  expect([open.keyless(), open.requested()]).toEqual([2, 2]);
  for (const end of ends) end();
  expect([open.keyless(), open.requested(), open.count("ada")]).toEqual([0, 0, 1]);
});

it("a stream replaces that with its id, of each caller alone", () => {
  const open = new OpenStreams();
  const onReplaced = vi.fn();
  for (const callers of [keys, new Set(["bob"]), new Set<string>()]) {
    open.add(callers, { id: "page 1", requested: 1, onReplaced });
  }
  open.replace(keys, "page 2");
  expect(onReplaced).toHaveBeenCalledTimes(0);
  open.replace(new Set(["ada", "eve"]), "page 1");
  expect(onReplaced).toHaveBeenCalledTimes(1);
  expect([open.count("ada"), open.count("bob"), open.keyless(), open.requested()]).toEqual([
    0, 1, 1, 2,
  ]);
});

it("on Cloudflare Workers, a stream that has vanished with its request no longer counts", () => {
  vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" });
  const open = new OpenStreams();
  const beats: ReturnType<typeof setInterval>[] = [];
  const start = vi.spyOn(globalThis, "setInterval");
  open.add(keys);
  beats.push(start.mock.results[0]!.value as (typeof beats)[0]);
  open.add(keys);
  vi.advanceTimersByTime(60_000);
  expect(open.count("ada")).toBe(2);
  // The platform ends the timers of the request, and runs none of its code again.
  clearInterval(beats[0]);
  vi.advanceTimersByTime(60_000);
  expect(open.count("ada")).toBe(1);
});
