/**
 * Checks pages when faults are over. A page must show the right state within a bounded time, predict what
 * the server answers, count down to an instant at which a call passes, hear of changes by other
 * processes, show what comes back when holds lapse, and leave nothing behind.
 */
import type { Random } from "../random.js";
import type { World } from "../simulate.js";
import { SHOWN } from "../workloads/context.js";
import { agrees } from "./agrees.js";
import { countsDown } from "./counts-down.js";
import { type Pages, take } from "./pages.js";
import { showsLapses } from "./shows-lapses.js";
import { PageView } from "./page-view.js";

/** How long a statement of a failed call may still be carried out, ms. */
const MAY_COME_FOR = 15_000;
/** The longest time until a page shows what the server holds, ms. */
const RECOVERY = 45_000;
/** The longest time until a page has a stream again, ms: the longest pause, and refusals. */
const LIVE_AGAIN = 90_000;
/** How long a closed page may keep timers, ms. The page waits that long for an answer. */
const LEFT = 11_000;

export async function finishPages(world: World, pages: Pages, random: Random): Promise<void> {
  const { timeline, failures } = world;
  const views = pages.running.map((page) => new PageView(world, pages, page));
  if (failures.size > 0) await timeline.until(timeline.now + MAY_COME_FOR);
  await Promise.all(views.map(recovers));
  // Pages of one visitor take from the same buckets, so only one of them makes the calls.
  const first = views.filter(
    ({ page }, i) => views.findIndex((other) => other.page.visitor === page.visitor) === i,
  );
  await Promise.all(
    first.map(async (view) => {
      const own = random.fork();
      await predicts(view, own);
      await showsLapses(
        views.filter(({ page }) => page.visitor === view.page.visitor),
        own,
      );
    }),
  );
  await Promise.all(views.map((view) => isLiveAgain(view)));
  for (const { page } of views) page.process.read(() => page.end(random.chance(0.5)));
  await timeline.until(timeline.now + LEFT);
  for (const view of views) leavesNothing(view);
}

async function recovers(view: PageView): Promise<void> {
  const { page, world } = view;
  const { timeline } = world;
  await timeline.until(page.pausedUntil);
  page.process.read(() => page.calm());
  // A call that hangs keeps its debit until the browser gives the call up.
  while (page.calling > 0) await timeline.until(timeline.now + 1000);
  const since = timeline.now;
  for (;;) {
    await timeline.until(timeline.now + 500);
    const wrong = page.names.flatMap((name) => view.wrongAbout(name));
    if (wrong.length === 0) break;
    if (timeline.now - since < RECOVERY) continue;
    return view.report(`does not come right in ${RECOVERY} ms: ${wrong.join("; ")}`);
  }
  view.checkClock();
}

async function predicts(view: PageView, random: Random): Promise<void> {
  const { page } = view;
  const name = random.pick(page.names);
  view.world.calls.note("page predicts");
  await hears(view, random);
  await agrees(view, name, random);
  // Chance decides which shards a call sees.
  if ("shards" in SHOWN[name]) return;
  await countsDown(view, name);
  await hears(view, random);
}

/** A change by another process reaches the page. */
async function hears(view: PageView, random: Random): Promise<void> {
  const { page, world } = view;
  const { timeline, members } = world;
  const names = page.names.filter((name) => !("shards" in SHOWN[name]));
  if (names.length === 0) return;
  await view.untilConnected();
  const name = random.pick(names);
  const held = page.observer.remaining({ name }) ?? 0;
  // Take all tokens, so that they have not refilled when the page is checked.
  const isTaken = await take(world, random.pick(members.running), name, page.visitor, held);
  if (held === 0 || !isTaken) return;
  world.calls.note("page hears");
  const most = view.hearsWithin;
  await timeline.until(timeline.now + most);
  const wrong = view.wrongAbout(name);
  if (wrong.length > 0)
    view.report(`has not heard of a change for ${most} ms: ${wrong.join("; ")}`);
}

async function isLiveAgain(view: PageView): Promise<void> {
  const { page, world, pages } = view;
  const { timeline, scenario } = world;
  const { heldUntil } = pages.web;
  const { maxStreams } = scenario.pages;
  // With fewer streams than pages, some of them poll.
  if (page.live !== "stream" || maxStreams < pages.running.length) return;
  const until = Math.max(heldUntil, scenario.duration) + LIVE_AGAIN;
  // A proxy may hold a stream for longer than this test looks.
  if (until > scenario.duration + 150_000) return;
  while (page.observer.connection !== "live") {
    if (timeline.now > until) return view.report(`has no stream again after ${LIVE_AGAIN} ms`);
    await timeline.until(timeline.now + 1000);
  }
}

function leavesNothing(view: PageView): void {
  const { page, pages } = view;
  const { timers } = page.process;
  if (timers > 0) view.report(`has ${timers} timers after its end`);
  const { length } = pages.web.sourcesOf(page);
  if (length > 0) view.report(`has ${length} streams after its end`);
}
