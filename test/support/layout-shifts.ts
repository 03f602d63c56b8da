/** Layout shifts of a page, as visitors see them. */
import type { Page } from "playwright-core";

/** Records every shift of the layout that does not follow the visitor's press. */
export async function recordShifts(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const shifts = { total: 0 };
    Object.assign(globalThis, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput } = entry as unknown as Record<string, number>;
        if (!hadRecentInput) shifts.total += value!;
      }
    }).observe({ type: "layout-shift" });
  });
  return () =>
    page.evaluate(() => (globalThis as unknown as { shifts: { total: number } }).shifts.total);
}
