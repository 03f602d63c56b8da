import { expect, vi } from "vitest";

/** Waits until `check` no longer throws. The timeout is long enough for a slow machine. */
export function soon<TResult>(check: () => TResult): Promise<TResult> {
  return vi.waitFor(check, { timeout: 8_000, interval: 10 });
}

/** Waits until `read` has returned the same value more than fifteen times in a row, 10 ms apart. */
export async function settled(read: () => unknown): Promise<void> {
  let [last, repeats] = [read(), 0];
  await soon(() => {
    const current = read();
    repeats = Object.is(current, last) ? repeats + 1 : 0;
    last = current;
    expect(repeats).toBeGreaterThan(15);
  });
}
