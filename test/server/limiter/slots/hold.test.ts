import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimiter, memoryStore, RateLimitStoreError } from "../../../../server/index.js";

const TTL = 3000;
let failing = false;

/** Time only passes where a test says so, for timers and for the limiter. */
beforeEach(() => {
  failing = false;
  vi.useFakeTimers({ now: 1e12, toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
});
afterEach(() => void vi.useRealTimers());

/** A limiter whose store fails while `failing`, and another one on the same rows. */
function createLimiters() {
  const store = memoryStore();
  const limits = { work: { kind: "concurrency", slots: 1, ttl: TTL } } as const;
  const broken = async () => {
    throw new RateLimitStoreError("down");
  };
  const failingStore = new Proxy(store, {
    get(target, property, receiver) {
      if (property === "submit") return undefined;
      if (property === "apply" && failing) return broken;
      return Reflect.get(target, property, receiver) as unknown;
    },
  });
  const limiter = createRateLimiter({ store: failingStore, limits, logger: false });
  const other = createRateLimiter({ store, limits });
  return { limiter, other };
}

async function entered(limiter: ReturnType<typeof createLimiters>["limiter"]) {
  const slot = await limiter.enter("work");
  if (!slot.ok) throw new Error("denied");
  return slot;
}

/** The parts of a slot that callers take apart. */
async function held(limiter: ReturnType<typeof createLimiters>["limiter"]) {
  const slot = await entered(limiter);
  return { signal: slot.signal, release: () => slot.release() };
}

it("renews the slot for as long as it is held", async () => {
  const { limiter, other } = createLimiters();
  const slot = await entered(limiter);
  for (let i = 0; i < 20; i++) {
    await vi.advanceTimersByTimeAsync(TTL / 2);
    expect(await other.enter("work")).toMatchObject({ ok: false });
  }
  expect(slot.signal.aborted).toBe(false);
  await slot.release();
  await slot.release();
  expect(await other.enter("work")).toMatchObject({ ok: true });
  expect(slot.signal.aborted).toBe(false);
});

it("tells the holder before the slot is free that it could not be renewed", async () => {
  const { limiter, other } = createLimiters();
  const slot = await entered(limiter);
  failing = true;
  await vi.advanceTimersByTimeAsync(TTL - 1);
  expect(slot.signal.aborted).toBe(true);
  expect((slot.signal.reason as Error).message).toContain('the slot of "work" was lost');
  expect(await other.enter("work")).toMatchObject({ ok: false, retryAfter: 1 });
  await vi.advanceTimersByTimeAsync(1);
  expect(await other.enter("work")).toMatchObject({ ok: true });
  failing = false;
  await slot.release();
  expect(await limiter.enter("work")).toMatchObject({ ok: false });
});

const lookOfAny = (signal: AbortSignal): unknown => AbortSignal.any([signal]).aborted;
/** Whether `AbortSignal.any` asks a signal by its property, as in older versions of Node.js. */
function looksAtProperty(): boolean {
  const { signal } = new AbortController();
  Object.defineProperty(signal, "aborted", { value: true });
  const looks = AbortSignal.any([signal]).aborted;
  if (!looks)
    console.log(`In Node.js ${process.version}, AbortSignal.any hears of a loss by timers.`);
  return looks;
}

it.each([
  ["aborted", (signal: AbortSignal): unknown => signal.aborted],
  ["throwIfAborted", (signal: AbortSignal): unknown => [signal.throwIfAborted()].at(1)],
  ["reason", (signal: AbortSignal): unknown => signal.reason !== undefined],
  ...(looksAtProperty() ? [["any", lookOfAny] as const] : []),
] as const)("a look at the signal (%s) asks the clock, though no timer ran", async (name, look) => {
  const { limiter, other } = createLimiters();
  const { signal, release } = await held(limiter);
  const before = performance.now();
  const heard = vi.fn();
  signal.addEventListener("abort", heard);
  const now = vi.spyOn(performance, "now").mockReturnValue(before + 0.9 * TTL - 1);
  expect(look(signal)).toBe(name === "throwIfAborted" ? undefined : false);
  now.mockReturnValue(before + 0.9 * TTL);
  if (name === "throwIfAborted") expect(() => look(signal)).toThrow(/was lost/u);
  else expect(look(signal)).toBe(true);
  expect(heard).toHaveBeenCalledOnce();
  expect((signal.reason as Error).message).toContain('the slot of "work" was lost');
  now.mockRestore();
  await release();
  // Its slot was its own until then, since no timer of another process ran either.
  expect(await other.enter("work")).toMatchObject({ ok: true });
});

it("is not aborted by a look after the release", async () => {
  const { limiter } = createLimiters();
  const { signal, release } = await held(limiter);
  await release();
  await vi.advanceTimersByTimeAsync(2 * TTL);
  expect(signal.aborted).toBe(false);
  expect(() => signal.throwIfAborted()).not.toThrow();
});

it("goes on after a renewal that failed once", async () => {
  const { limiter } = createLimiters();
  const slot = await entered(limiter);
  failing = true;
  await vi.advanceTimersByTimeAsync(TTL / 3 + 1);
  failing = false;
  await vi.advanceTimersByTimeAsync(3 * TTL);
  expect(slot.signal.aborted).toBe(false);
  await slot.release();
});

it("loses the slot when the slots are reset", async () => {
  const { limiter, other } = createLimiters();
  const slot = await entered(limiter);
  await other.reset("work");
  expect(await other.enter("work")).toMatchObject({ ok: true });
  await vi.advanceTimersByTimeAsync(TTL / 3 + 1);
  expect(slot.signal.aborted).toBe(true);
});

it("frees the slot later where the store fails at the release", async () => {
  const { limiter, other } = createLimiters();
  const slot = await entered(limiter);
  failing = true;
  await slot.release();
  failing = false;
  expect(await other.enter("work")).toMatchObject({ ok: false });
  await vi.advanceTimersByTimeAsync(TTL / 10);
  expect(await other.enter("work")).toMatchObject({ ok: true });
});

it("refuses a slot whose answer came after its ttl", async () => {
  const { limiter } = createLimiters();
  vi.spyOn(performance, "now").mockReturnValueOnce(performance.now() - TTL);
  await expect(limiter.enter("work")).rejects.toThrow(/after the ttl of a slot/u);
  expect(await limiter.check("work")).toMatchObject({ ok: true });
  vi.restoreAllMocks();
});
