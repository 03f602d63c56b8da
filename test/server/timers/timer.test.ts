import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { startTimer } from "../../../server/timers/timer.js";
import { blockProcess } from "../../support/block-process.js";

/** How long faked timers take to read answers, ms. */
const READS = 1;

afterEach(() => void vi.useRealTimers());

describe("a timer", () => {
  it.each([2 ** 31 - 1, 2 ** 31, 2 ** 40])("waits for %d ms", (ms) => {
    vi.useFakeTimers();
    let runs = 0;
    startTimer(() => runs++, ms);
    vi.advanceTimersByTime(ms - 1);
    expect(runs).toBe(0);
    vi.advanceTimersByTime(1 + READS);
    expect(runs).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("never ends after Infinity ms, and keeps no process alive then", () => {
    vi.useFakeTimers();
    const timer = startTimer(() => expect.fail("ended"), Infinity);
    expect(vi.getTimerCount()).toBe(0);
    timer.unref();
    timer.ref();
    timer.stop();
  });

  it("does not end once it is stopped", () => {
    vi.useFakeTimers();
    startTimer(() => expect.fail("ended"), 10).stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([true, false])("keeps the process alive or not, also after 2^31 ms (%s)", (isAlive) => {
    vi.useFakeTimers();
    const setTimer = vi.spyOn(globalThis, "setTimeout");
    const timer = startTimer(() => {}, 2 ** 32);
    if (!isAlive) timer.unref();
    vi.advanceTimersByTime(2 ** 31);
    expect((setTimer.mock.results.at(-1)!.value as NodeJS.Timeout).hasRef()).toBe(isAlive);
    timer.stop();
  });

  it("ends after the answers that arrived while the process was busy", async () => {
    const server = createServer((socket) => socket.write("answer"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    await once(socket, "connect");
    const order: string[] = [];
    socket.once("data", () => order.push("answer"));
    const ended = new Promise<void>((resolve) => {
      startTimer(() => {
        order.push("timer");
        resolve();
      }, 20);
    });
    blockProcess(100);
    await ended;
    socket.destroy();
    server.close();
    expect(order).toEqual(["answer", "timer"]);
  });
});
