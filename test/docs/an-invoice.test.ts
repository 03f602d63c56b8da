/** The guide's invoice and its sums. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { importBlock } from "../support/docs-module.js";
import { clock, limiter } from "../support/invoice-limiter.js";

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
  invoiceOf(customer: string, year: number, month: number): Promise<Invoice>;
}

it("has what a customer has used in a month, by the day, and its price", async () => {
  const { invoiceOf } = await importBlock<Server>(PAGE, "server/invoice.ts", (code) =>
    code.replace('"./limits.js"', JSON.stringify(LIMITER)),
  );
  const use = async (key: string, at: number, estimate: number, actual: number) => {
    clock.set(at);
    const result = await limiter.limit("llmTokens", { key, count: estimate });
    await limiter.settle(result, actual);
  };
  await use("ann", Date.UTC(2030, 2, 31, 23), 1000, 1000);
  await use("ann", Date.UTC(2030, 3, 1), 40_000, 30_000);
  await use("bob", Date.UTC(2030, 3, 1), 5000, 5000);
  await use("ann", Date.UTC(2030, 3, 30, 23, 59), 4000, 4500);
  const invoice = await invoiceOf("ann", 2030, 4);
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
  const final = await invoiceOf("ann", 2030, 4);
  expect(final).toEqual({ ...invoice, isFinal: true });
});
