/**
 * The share of the possible grants that limits with leases give.
 * `ACCURACY=1 npx vitest run test/simulation/lease-accuracy` prints the table.
 */
import { afterAll, describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../server/index.js";
import { measureAccuracy } from "./lease-accuracy.js";
import { loadShipped } from "./shipped.js";

const start = await loadShipped();
const table: Record<string, unknown>[] = [];
afterAll(() => {
  if (process.env["ACCURACY"]) console.table(table);
});

const bucket = { kind: "token bucket", period: SECOND } as const;
const limits = [
  { ...bucket, rate: 100, capacity: 100, lease: { ms: 200 } },
  { ...bucket, rate: 100, capacity: 200, lease: { ms: 1000 } },
  { ...bucket, rate: 1000, capacity: 1000, lease: { ms: 200 } },
];
type Options = Parameters<typeof measureAccuracy>[1];

async function measure(options: Options) {
  const accuracy = await measureAccuracy(start, options);
  const { config, processes, demand, begins = "empty" } = options;
  const { rate, period, capacity, lease } = config;
  const { calls, possible, granted, decisions } = accuracy;
  table.push({
    "rate a second": (rate * SECOND) / period,
    capacity,
    ms: lease!.ms,
    processes,
    "demand, %": 100 * demand,
    begins,
    calls,
    possible,
    granted,
    "share, %": Number((100 * accuracy.share).toFixed(1)),
    "decisions a call": Number((decisions / calls).toFixed(2)),
  });
  return accuracy;
}

describe.each(limits)("leases of $lease.ms ms, at $rate a second", (config) => {
  it.each([1, 3, 20])(
    "admit at least 94 in 100 of the true rate in %i processes",
    async (processes) => {
      for (const demand of [0.5, 1, 1.5]) {
        const calls = Math.min(3000, 15 * config.rate);
        const { share } = await measure({ config, processes, demand, calls });
        expect(share).toBeGreaterThanOrEqual(0.94);
        expect(share).toBeLessThanOrEqual(1);
      }
    },
  );

  it.each([1, 3, 20])(
    "lose no more of a burst than what refills, and a block of each of %i processes",
    async (processes) => {
      const { rate, capacity, lease } = config;
      const refill = (rate * lease.ms) / SECOND;
      const calls = 2 * capacity;
      const options = { config, processes, demand: 3, calls, begins: "full" } as const;
      const { possible, granted } = await measure(options);
      expect(possible - granted).toBeLessThanOrEqual(refill * (1 + processes));
      // Leases have a price.
      expect(possible - granted).toBeGreaterThan(0);
    },
  );
});

it("lose nothing of 10 a minute in twenty processes", async () => {
  const config = { ...bucket, rate: 10, period: MINUTE, lease: { ms: 10_000 } };
  for (const demand of [0.5, 1, 1.5]) {
    const { share } = await measure({ config, processes: 20, demand, calls: 300 });
    expect(share).toBe(1);
  }
});

it("saves nearly all decisions of the store below the rate", async () => {
  const [, , config] = limits;
  const { calls, decisions } = await measure({
    config: config!,
    processes: 1,
    demand: 0.9,
    calls: 3000,
    begins: "full",
  });
  expect(decisions / calls).toBeLessThan(0.05);
});
