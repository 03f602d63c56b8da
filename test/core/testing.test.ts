import { describe, expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";

describe("a manual clock", () => {
  it("stands still until it is moved, forwards or backwards", () => {
    const clock = createManualClock(1000);
    expect(clock()).toBe(1000);
    clock.advance(500);
    clock.advance(-200);
    expect(clock()).toBe(1300);
    clock.set(7);
    expect(clock()).toBe(7);
  });

  it("ends a sleep once it has moved by its ms, and not one ms earlier", async () => {
    const clock = createManualClock();
    const ended: number[] = [];
    const sleeps = [20, 10].map(async (ms) => {
      await clock.sleep(ms);
      ended.push(ms);
    });
    expect(clock.sleepers()).toBe(2);
    clock.advance(9);
    expect(clock.sleepers()).toBe(2);
    clock.advance(1);
    await sleeps[1];
    expect([ended, clock.sleepers()]).toEqual([[10], 1]);
    clock.advance(100);
    await sleeps[0];
    expect([ended, clock.sleepers()]).toEqual([[10, 20], 0]);
  });

  it("ends a sleep of no time at once", async () => {
    const clock = createManualClock();
    const sleeps = [clock.sleep(0), clock.sleep(-5)];
    expect(clock.sleepers()).toBe(0);
    await Promise.all(sleeps);
  });

  it("rejects a sleep with the reason of its signal, also of one that was aborted before", async () => {
    const clock = createManualClock();
    const controller = new AbortController();
    const sleep = clock.sleep(10, controller.signal);
    controller.abort("left");
    await expect(sleep).rejects.toBe("left");
    await expect(clock.sleep(0, controller.signal)).rejects.toBe("left");
    expect(clock.sleepers()).toBe(0);
  });
});
