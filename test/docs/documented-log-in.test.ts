/** The guide to log-ins without tRPC: its limit, and the calls of its handler. */
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../core/durations.js";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, memoryStore } from "../../server/index.js";

const T = Date.UTC(2030, 0, 1);
const key = "ann@example.com";
const logIn = {
  kind: "fixed window",
  rate: 10,
  period: 90 * DAY,
  blockFor: HOUR,
  afterBlock: "new window",
  // The window has 25 days to go at T.
  start: T - 65 * DAY,
} as const;

function setUp() {
  const clock = createManualClock(T);
  const limiter = createRateLimiter({ store: memoryStore(), clock, limits: { logIn } });
  return {
    limiter,
    wait: (ms: number) => clock.advance(ms),
    /** As the guide's handler: takes first, and looks at the password then. */
    async attempt(password: "right" | "wrong" | "unknown"): Promise<number> {
      const taken = await limiter.limit("logIn", { key });
      if (!taken.ok) return 429;
      if (password === "wrong") return 401;
      if (password === "right") await limiter.reset("logIn", { key });
      else await limiter.settle(taken, 0);
      return password === "right" ? 200 : 500;
    },
  };
}

it("closes for an hour after ten failures, and then gives ten fresh attempts", async () => {
  const { limiter, attempt, wait } = setUp();
  for (let i = 0; i < 10; i++) expect(await attempt("wrong")).toBe(401);
  expect(await attempt("right")).toBe(429);
  expect((await limiter.check("logIn", { key })).retryAfter).toBe(HOUR);
  wait(HOUR - 1);
  expect(await attempt("wrong")).toBe(429);
  wait(1);
  for (let i = 0; i < 10; i++) expect(await attempt("wrong")).toBe(401);
  expect(await attempt("wrong")).toBe(429);
});

it("forgets the failures on a success, and does not count an error of the server", async () => {
  const { attempt } = setUp();
  for (let i = 0; i < 9; i++) await attempt("wrong");
  for (let i = 0; i < 20; i++) expect(await attempt("unknown")).toBe(500);
  expect(await attempt("right")).toBe(200);
  for (let i = 0; i < 10; i++) expect(await attempt("wrong")).toBe(401);
  expect(await attempt("wrong")).toBe(429);
});

it("waits for the end of the window where `check` is the gate, as the guide warns", async () => {
  const { limiter, attempt, wait } = setUp();
  for (let i = 0; i < 10; i++) await attempt("wrong");
  expect(await limiter.check("logIn", { key })).toMatchObject({ ok: false, retryAfter: 25 * DAY });
  wait(HOUR + MINUTE);
  expect((await limiter.check("logIn", { key })).ok).toBe(false);
});
