/** When a countdown has ended, the next call passes, if no other caller takes tokens. */
import type { ShownName } from "../workloads/context.js";
import type { PageView } from "./page-view.js";

/** The longest wait of the limits, and a heartbeat, ms. */
const LONGEST = 32_000;
/** Several tries, since a report of the last call may be on its way. */
const TRIES = 3;
const MOST_CALLS = 25;

/**
 * @param exhausts takes tokens until the page predicts a denial. The function resolves with false if it
 *   could not.
 */
export async function countsDown(
  view: PageView,
  name: ShownName,
  exhausts: (view: PageView, name: ShownName) => Promise<boolean> = clicks,
): Promise<void> {
  const { page, world } = view;
  let denied = "";
  for (let left = TRIES; left > 0; left--) {
    if (!(await exhausts(view, name))) return;
    world.calls.note("countdown");
    await world.timeline.until(world.timeline.now + 60 + view.way);
    if (!(await waits(view, name))) return;
    const { kind, retryAfter } = await page.call(name, { count: 1, fails: false }, "send");
    if (kind === "granted") return;
    if (kind === "denied" && retryAfter > 2 * view.error + view.way) {
      denied = `${retryAfter} ms`;
    } else left++;
    if (kind === "failed") await world.timeline.until(world.timeline.now + 500);
    if (world.timeline.now > world.scenario.duration + 160_000) return;
  }
  view.report(`was denied ${name} for ${denied} after a countdown, ${TRIES} times`);
}

/** Calls until the page predicts a denial. */
async function clicks({ page, world }: PageView, name: ShownName): Promise<boolean> {
  for (let calls = MOST_CALLS; calls > 0; calls--) {
    if (page.observer.status({ name }, 1)?.ok === false) return true;
    const { kind } = await page.call(name, { count: 1, fails: false }, "send");
    if (kind === "failed") await world.timeline.until(world.timeline.now + 500);
  }
  return false;
}

/** Waits as the page's countdown does. @returns whether the countdown has ended. */
async function waits(view: PageView, name: ShownName): Promise<boolean> {
  const { page, world } = view;
  const { timeline } = world;
  const since = timeline.now;
  for (;;) {
    const status = page.observer.status({ name }, 1);
    if (status?.ok !== false) return true;
    if (timeline.now - since > LONGEST) {
      view.report(`counts down ${name} for ${LONGEST} ms`);
      return false;
    }
    const wait = page.shipped.createWait(status.retryAt);
    await page.sleep(Math.min(Math.max(wait(), 1), 1000));
  }
}
