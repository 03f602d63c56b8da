/** A page predicts what the server answers, if no other caller takes tokens. */
import type { RateLimitResult } from "../../../server/index.js";
import type { Random } from "../random.js";
import { SHOWN, type ShownName } from "../workloads/context.js";
import type { PageView } from "./page-view.js";

/** How long a debit may stay after its call, ms: the page waits for reports, and a poll may have failed. */
const REPORTED = 2200;
/** How often a request is repeated after the store has failed. */
const MOST_FAILURES = 20;

export async function agrees(view: PageView, name: ShownName, random: Random): Promise<void> {
  const { page, world } = view;
  const { timeline } = world;
  for (let calls = random.below(5); calls > 0; calls--) {
    const before = view.limit(name)?.debits ?? 0;
    const { kind } = await page.call(name, { count: 1, fails: random.chance(0.2) }, "send");
    const after = view.limit(name)?.debits ?? 0;
    if (kind === "denied" && after > before) view.report(`keeps the debit of a denied ${name}`);
    await timeline.until(timeline.now + random.below(100));
  }
  await timeline.until(timeline.now + REPORTED + view.way);
  for (let left = MOST_FAILURES; left > 0; left--) {
    const { debits = 0 } = view.limit(name) ?? {};
    const count = random.between(1, 3);
    if (debits === 0 && (await hasAnswered(view, name, count))) return;
    // By then, a poll has come.
    await timeline.until(timeline.now + 1000);
  }
  view.report(`has no answer to compare: ${view.limit(name)?.debits} debits of ${name}`);
}

/** @returns whether the server has answered. */
async function hasAnswered(view: PageView, name: ShownName, count: number): Promise<boolean> {
  const { page } = view;
  const { observer, process } = page;
  const item = { name };
  const slack = view.error + view.way / 4;
  const sentAt = process.epoch;
  const predicted = observer.check(item, sentAt, count);
  const before = observer.check(item, sentAt - slack, count);
  const served = await page.ask("rateLimit.check", { name, count }).catch(() => undefined);
  if (served === undefined || "error" in served) {
    const code = (served as { error?: { data?: { code?: string } } } | undefined)?.error?.data
      ?.code;
    // The call asks for more than the limit ever holds.
    return code === "PAYLOAD_TOO_LARGE";
  }
  const { ok } = served.data as RateLimitResult;
  const late = predicted?.retryAt === undefined ? 0 : predicted.retryAt - process.epoch;
  const isSharded = "shards" in SHOWN[name];
  if (predicted === undefined) view.report(`predicts nothing of ${name}`);
  else if (ok && late > slack) {
    view.report(`predicts a denial of ${count} of ${name} for ${late} ms, and it passes`);
  } else if (
    !ok &&
    !isSharded &&
    predicted.retryAt === undefined &&
    before?.retryAt === undefined
  ) {
    view.report(`predicts that ${count} of ${name} pass, and they are denied`);
  }
  return true;
}
