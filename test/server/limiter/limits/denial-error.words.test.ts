/** The words in the error of a denied call, for each method that throws it. */
import { describe, expect, it } from "vitest";
import {
  createRateLimiter,
  type DenialMessage,
  memoryStore,
  waitInWords,
} from "../../../../server/index.js";

const key = "ada";
/** 22 days and a little. */
const WAIT = 1_909_646_807;
const limits = {
  month: { kind: "token bucket", rate: 1, period: WAIT },
  quick: { kind: "token bucket", rate: 1, period: 1000 },
  credits: { kind: "credits" },
  runs: { kind: "concurrency", slots: 1, ttl: 5000 },
} as const;

function setUp(denialMessage?: DenialMessage) {
  return createRateLimiter({ store: memoryStore(), clock: () => 0, limits, denialMessage });
}
type Limiter = ReturnType<typeof setUp>;

const CALLS: [method: string, about: string, call: (limiter: Limiter) => Promise<unknown>][] = [
  ["limit", '"month"', ({ limit }) => limit("month", { key, throws: true })],
  ["check", '"month"', ({ check }) => check("month", { key, throws: true })],
  ["acquire", '"month"', ({ acquire }) => acquire("month", { key, maxWait: 0 })],
  [
    "limitAll",
    '"month", "quick"',
    ({ limitAll }) =>
      limitAll(
        [
          { name: "quick", key },
          { name: "month", key },
        ],
        { throws: true },
      ),
  ],
  [
    "limitFirst",
    '"month", "credits"',
    ({ limitFirst }) => limitFirst(["month", "credits"], { key, throws: true }),
  ],
  ["transaction", '"month"', (limiter) => inTransaction(limiter)],
];

const inTransaction = (limiter: Limiter) =>
  limiter.transaction(({ limit }) => limit("month", { key, throws: true }));

async function messageOf(limiter: Limiter, call: (typeof CALLS)[number][2]): Promise<string> {
  await limiter.limit("month", { key });
  await limiter.limit("quick", { key });
  const thrown = await call(limiter).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ name: "RateLimitError", data: { rateLimit: { now: 0 } } });
  return (thrown as Error).message;
}

describe("a denied call", () => {
  it.each(CALLS)("of %s says in words when to try again", async (_method, about, call) => {
    const message = await messageOf(setUp(), call);
    expect(message).toBe(`Rate limit ${about} exceeded. Try again in 22 days, 3 hours`);
  });

  it.each(CALLS)("of %s says it in the application's own words", async (_method, _about, call) => {
    const own: DenialMessage = ({ retryAfter }) =>
      `Wieder in ${waitInWords(retryAfter, "de") ?? "keiner Zeit"}`;
    expect(await messageOf(setUp(own), call)).toBe("Wieder in 22 Tage, 3 Stunden");
  });

  it("of enter says in words when a slot may be free", async () => {
    const says = async (limiter: Limiter) => {
      await using slot = await limiter.enter("runs", { key });
      expect(slot.ok).toBe(true);
      const denied = limiter.enter("runs", { key, throws: true });
      return denied.then(String, (error: Error) => error.message);
    };
    expect(await says(setUp())).toBe('Rate limit "runs" exceeded. Try again in 5 seconds');
    expect(await says(setUp(({ name }) => `No ${name} left`))).toBe("No runs left");
  });

  it("that no wait ends says so, and gives the application no words for it", async () => {
    const says = (limiter: Limiter) =>
      limiter.limit("credits", { key, throws: true }).catch((error: Error) => error.message);
    expect(await says(setUp())).toBe('Rate limit "credits" exceeded. Waiting does not help');
    const own = setUp(({ retryAfter }) => String(waitInWords(retryAfter)));
    expect(await says(own)).toBe("undefined");
  });
});

it.each([
  ["throw", () => JSON.parse("no words") as string],
  ["are no text", () => undefined as unknown as string],
])(
  "stays a denial in the words of the package where those of an application %s",
  async (_, say) => {
    for (const [, about, call] of CALLS) {
      expect(await messageOf(setUp(say), call)).toContain(`Rate limit ${about} exceeded`);
    }
  },
);
