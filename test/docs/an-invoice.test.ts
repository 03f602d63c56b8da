/** The guide's invoice and its sums, and its export to a meter that counts each id once. */
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { DAY, HOUR, MINUTE } from "../../core/durations.js";
import { importBlock } from "../support/docs-module.js";
import { openFakeMeter } from "../support/fake-meter.js";
import { clock, limiter } from "../support/invoice-limiter.js";
import { createRandom } from "../support/seeded-random.js";

const PAGE = "docs/guides/an-invoice.md";
const LIMITER = join(import.meta.dirname, "../support/invoice-limiter.ts");

interface Invoice {
  days: { day: number; calls: number; tokens: number }[];
  tokens: number;
  cents: number;
  calls: number;
  isFinal: boolean;
}
interface Server {
  invoiceOf(customer: string, month: string, timeZone?: string): Promise<Invoice>;
}

it("has what a customer has used in a month, by the day, and its price", async () => {
  const { invoiceOf } = await importBlock<Server>(PAGE, "server/invoice.ts", (code) =>
    code.replace('"./limits.js"', JSON.stringify(LIMITER)),
  );
  const use = async (key: string, at: number, estimate: number, actual: number) => {
    clock.set(at);
    const result = await limiter.limit("llmTokens", { key, count: estimate });
    await limiter.settle(result, actual);
    // As every few seconds: what is written days later counts in a later span.
    await limiter.flushUsage();
  };
  await use("ann", Date.UTC(2030, 2, 31, 23), 1000, 1000);
  await use("ann", Date.UTC(2030, 3, 1), 40_000, 30_000);
  await use("bob", Date.UTC(2030, 3, 1), 5000, 5000);
  await use("ann", Date.UTC(2030, 3, 30, 23, 59), 4000, 4500);
  const invoice = await invoiceOf("ann", "2030-04");
  expect(invoice).toEqual({
    days: [
      { day: Date.UTC(2030, 3, 1), calls: 1, tokens: 30_000 },
      { day: Date.UTC(2030, 3, 30), calls: 1, tokens: 4_500 },
    ],
    tokens: 34_500,
    calls: 2,
    cents: 9,
    isFinal: false,
  });

  await use("ann", Date.UTC(2030, 4, 1, 0, 2), 1, 1);
  const final = await invoiceOf("ann", "2030-04");
  expect(final).toEqual({ ...invoice, isFinal: true });
});

interface Exporter {
  exportUsage(send: (span: object) => Promise<void>): Promise<void>;
  toStripe(span: object): Promise<void>;
  toOpenMeter(span: object): Promise<void>;
}

describe.each(["toStripe", "toOpenMeter"] as const)("the export by %s", (by) => {
  it("sends each span, and doubles none, whatever is lost and begun again", async () => {
    const random = createRandom(by.length);
    let isDone = false;
    await using meter = await openFakeMeter(() => !isDone && random() < 0.2);
    let cursor: string | undefined;
    const ofCursor = {
      loadCursor: async () => cursor,
      async saveCursor(next: string) {
        if (!isDone && random() < 0.3) throw new Error("killed before the cursor was kept");
        cursor = next;
      },
    };
    vi.stubGlobal("cursorOfTest", ofCursor);
    const exporter = await importBlock<Exporter>(
      "docs/guides/an-invoice.md",
      "server/meter.ts",
      (code) =>
        code
          .replace('"./limits.js"', JSON.stringify(LIMITER))
          .replace(
            /import \{ loadCursor, saveCursor \}.*/,
            "const { loadCursor, saveCursor } = cursorOfTest;",
          )
          .replace(/"https:[^"]*meter_events"/, JSON.stringify(meter.url))
          .replace(/"https:[^"]*events"/, JSON.stringify(meter.url)),
    );
    const from = Date.UTC(2031, 0, 1);
    clock.set(from);
    const customers = [1, 2, 3].map((i) => `${by} customer ${i}`);
    let failures = 0;
    for (let step = 0; step < 120; step++) {
      const key = customers[step % 3]!;
      const hold = { for: HOUR, then: "keep" } as const;
      await limiter.limit("llmTokens", { key, count: 100, once: `${step}`, hold });
      await limiter.settle("llmTokens", { key, once: `${step}` }, (step * 7) % 150);
      clock.advance(17 * MINUTE);
      await exporter.exportUsage(exporter[by]).catch(() => failures++);
    }
    isDone = true;
    clock.advance(DAY);
    await exporter.exportUsage(exporter[by]);
    expect(failures).toBeGreaterThan(10);
    expect(meter.repeated).toBeGreaterThan(5);
    for (const key of customers) {
      const span = { from, to: from + 4 * DAY };
      const { total } = await limiter.usage("llmTokens", { key, ...span });
      expect(meter.sums.get(key)).toBe(total.taken - total.givenBack);
    }
  });
});
