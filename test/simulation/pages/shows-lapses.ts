/**
 * The tokens that a process held when it died come back when the hold lapses. The tokens come back in the
 * rows, though no call asks for them, and on each page that shows the limit. The countdown of such a page
 * ends then.
 */
import { HELD } from "../../../core/rows/hold.js";
import type { Random } from "../random.js";
import { countsDown } from "./counts-down.js";
import { holdTokens } from "./hold-tokens.js";
import type { PageView } from "./page-view.js";

const NAME = "drafts";
/** After this time, ms after the faults, no such test begins any more. */
const LAST = 100_000;
/** How long the hold of a failed call may still be written, ms. */
const MAY_COME_FOR = 15_000;

/** @param views the pages of one visitor. */
export async function showsLapses(views: readonly PageView[], random: Random): Promise<void> {
  const showing = views.filter(({ page }) => page.names.includes(NAME));
  const [view] = showing;
  if (view === undefined) return;
  const { timeline } = view.world;
  const lapse = await holdsAll(showing, random);
  if (lapse !== undefined) {
    const most = hearsWithin(showing) + view.serverError;
    await timeline.until(timeline.now + lapse - view.serverNow + most);
    for (const each of showing) {
      const wrong = each.wrongAbout(NAME);
      if (wrong.length === 0) continue;
      each.report(`has not heard of a lapse for ${most} ms: ${wrong.join("; ")}`);
    }
  }
  await countsDown(view, NAME, async () => (await holdsAll(showing, random)) !== undefined);
}

/** @returns when the hold lapses, epoch ms of the database; `undefined` where nothing is held. */
async function holdsAll(showing: readonly PageView[], random: Random): Promise<number | undefined> {
  const [{ page, world, serverError }] = showing as [PageView];
  const { timeline, network, members, scenario } = world;
  for (const view of showing) await view.untilConnected();
  const most = hearsWithin(showing);
  // The process that holds, and the process that ends the hold, may both have a wrong time.
  const ms = most + 2 * serverError + random.between(1000, 4000);
  if (timeline.now + ms + most + serverError > scenario.duration + LAST) return undefined;
  const count = page.observer.remaining({ name: NAME }) ?? 0;
  if (count === 0) return undefined;
  const { visitor } = page;
  const holding = { visitor, count, for: ms };
  if (!(await holdTokens(world, random.pick(members.running), holding))) {
    await timeline.until(timeline.now + MAY_COME_FOR + ms);
    return undefined;
  }
  world.calls.note("page shows a hold");
  const sum = network.server.rows.newest([`${HELD.prefix}${NAME}`, visitor, 0].join("\0"));
  if (sum === null) return undefined;
  const lapse = Math.ceil(sum.ts);
  await timeline.until(timeline.now + most);
  for (const view of showing) {
    const { snapshot } = view.limit(NAME) ?? {};
    if (snapshot?.held !== count) {
      view.report(`has not heard of a hold of ${count} for ${most} ms: ${snapshot?.held}`);
    }
    const status = view.page.observer.status({ name: NAME }, 1);
    if (status?.ok !== false) continue;
    const left = lapse - view.serverNow;
    const shown = status.retryAt - view.page.process.epoch;
    if (shown <= left + view.error + view.way / 4) continue;
    view.report(`counts down for ${shown} ms, and its tokens come back in ${left} ms`);
  }
  return lapse;
}

function hearsWithin(views: readonly PageView[]): number {
  return Math.max(...views.map((view) => view.hearsWithin));
}
