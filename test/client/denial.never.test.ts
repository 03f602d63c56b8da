/** Denials that no wait ends, on a page: used-up credits. */
import { describe, expect, it } from "vitest";
import { denialOf, snapshotOfDenial } from "../../client/denial.js";
import { isSnapshot } from "../../client/is-snapshot.js";
import { predict } from "../../client/prediction.js";
import { rateLimitRetry } from "../../client/rate-limit-retry.js";
import { MINUTE, waitsInLine } from "../../core/index.js";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, memoryStore, type RateLimitError } from "../../server/index.js";

const limits = { credits: { kind: "credits" } } as const;

async function setUp() {
  const clock = createManualClock();
  const limiter = createRateLimiter({ store: memoryStore(), limits, clock });
  await limiter.credit("credits", { count: 2 });
  const error = (await limiter
    .limit("credits", { count: 3, throws: true })
    .catch((thrown: unknown) => thrown)) as RateLimitError;
  const [snapshot] = await limiter.snapshots([{ name: "credits" }]);
  return { clock, error, snapshot: snapshot! };
}

describe("credits that are used up", () => {
  it("are shown with a retryAt of Infinity, from a snapshot and from a denial", async () => {
    const { clock, error, snapshot } = await setUp();
    expect(isSnapshot(JSON.parse(JSON.stringify(snapshot)))).toBe(true);
    const denied = snapshotOfDenial({ name: "credits" }, error.data.rateLimit, 3);
    for (const known of [snapshot, denied]) {
      expect(predict(known, 0, clock(), 3)).toMatchObject({ value: -1, retryAt: Infinity });
      expect(predict(known, 0, clock(), 2)).toMatchObject({ value: 0, retryAt: undefined });
    }
    // The server explains it better.
    expect(denialOf("credits", predict(snapshot, 0, clock(), 3), clock(), 3)).toBeUndefined();
  });

  it("are no reason to try again", async () => {
    const { error } = await setUp();
    expect(rateLimitRetry(3, Infinity)(0, error)).toBe(false);
    expect(rateLimitRetry(3, MINUTE)(0, error)).toBe(false);
  });

  it("let no call wait in line, and take nothing from those behind", async () => {
    const { snapshot } = await setUp();
    expect(waitsInLine(snapshot, [1, 2, 1, 1])).toEqual([0, Infinity, 0, Infinity]);
  });

  it("say so in the message of their error", async () => {
    const { error } = await setUp();
    expect(error.message).toBe('Rate limit "credits" exceeded. Waiting does not help');
  });
});
