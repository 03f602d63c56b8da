/** A page of a visitor whose plan changes, on a transport that the test controls. */
import { expect } from "vitest";
import type { RateLimitConfig } from "../../core/index.js";
import { CONFIG, pass, startLive } from "./hand-transport.js";

export const a = { name: "a" };
export const FREE: { config: RateLimitConfig } = { config: CONFIG };
export const PAID: typeof FREE = { config: { ...CONFIG, rate: 30 } };
export type Page = Awaited<ReturnType<typeof startLive>>;

export const rateOf = ({ observer }: Page) => observer.config(a)?.rate;

/** Answers all open requests. */
export async function answer(
  { requests }: Page,
  value: number,
  config: typeof FREE,
): Promise<number> {
  const open = requests.filter(({ name }) => name === "a");
  for (const request of open) request.answer(value, config);
  await pass(1);
  return open.length;
}

/** A page whose stream was opened on the free plan, and whose last answer came on the paid plan. */
export async function upgrade(): Promise<Page> {
  const page = await startLive(1);
  page.observer.refresh(a);
  await pass(1);
  await answer(page, 30, PAID);
  expect(rateOf(page)).toBe(30);
  return page;
}
