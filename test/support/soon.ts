import { expect, vi } from "vitest";

/** Waits until `check` no longer throws: long enough for a slow machine, no longer than it takes. */
export function soon<TResult>(check: () => TResult): Promise<TResult> {
  return vi.waitFor(check, { timeout: 8_000, interval: 10 });
}

/** Waits until nothing moves any more: `read` has given the same thirty times in a row. */
export async function settled(read: () => unknown): Promise<void> {
  let [last, times] = [read(), 0];
  await soon(() => {
    const now = read();
    times = Object.is(now, last) ? times + 1 : 0;
    last = now;
    expect(times).toBeGreaterThan(30);
  });
}
