// @vitest-environment jsdom
import { act, cleanup, render } from "@testing-library/react";
import { Profiler } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  createTicker,
  type Ticker,
  TickerContext,
  useSecondsUntil,
} from "../../../client/admin/ticker.js";

const NOW = Date.UTC(2030, 3, 3);

beforeEach(() => vi.useFakeTimers({ now: NOW }));
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function Seconds({ at }: { at: number | undefined }) {
  return <li>{useSecondsUntil(at)}</li>;
}

function show(ticker: Ticker, ats: readonly (number | undefined)[]) {
  const renders = ats.map(() => 0);
  const list = ats.map((at, row) => (
    <Profiler key={String(at)} id={String(at)} onRender={() => void renders[row]!++}>
      <Seconds at={at} />
    </Profiler>
  ));
  const { container, unmount } = render(
    <TickerContext.Provider value={ticker}>{list}</TickerContext.Provider>,
  );
  return {
    unmount,
    renders,
    texts: () => [...container.children].map(({ textContent }) => textContent),
  };
}
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

it("has one timer for all countdowns, and none when the last one is gone", async () => {
  const { unmount, texts } = show(createTicker(), [NOW + 2000, NOW + 3000, NOW + 60_000]);
  expect(vi.getTimerCount()).toBe(1);
  await pass(1000);
  expect(texts()).toEqual(["1", "2", "59"]);
  await pass(2000);
  expect(texts()).toEqual(["0", "0", "57"]);
  unmount();
  expect(vi.getTimerCount()).toBe(0);
});

it("renders what counts, and nothing that has ended or has no end", async () => {
  const { renders } = show(createTicker(), [NOW + 1000, undefined, NOW + 9000]);
  expect(vi.getTimerCount()).toBe(1);
  // React 18 renders once at the end of what passes at once.
  for (let second = 0; second < 6; second++) await pass(1000);
  expect(renders).toEqual([2, 1, 7]);
});

it("goes by the server's time, without jumping with every answer", async () => {
  const ticker = createTicker();
  ticker.hear(NOW + 3_600_000);
  const { texts } = show(ticker, [NOW + 3_600_000 + 5000]);
  expect(texts()).toEqual(["5"]);
  // An answer that took 300 ms longer than the one before.
  ticker.hear(NOW + 3_600_000 - 300);
  await pass(1000);
  expect(texts()).toEqual(["4"]);
});
