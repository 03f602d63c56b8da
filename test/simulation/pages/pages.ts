/** The pages of a simulation, the processes that take tokens beside them, and the faults of pages. */
import { Process } from "../process.js";
import { createRandom, type Random } from "../random.js";
import type { Fault } from "../faults.js";
import type { StartShipped } from "../shipped.js";
import type { World } from "../simulate.js";
import {
  isStoreFailure,
  LIVE,
  type LiveName,
  type Member,
  type ShownName,
} from "../workloads/context.js";
import { finishPages } from "./finish.js";
import { holdBeside } from "./hold-tokens.js";
import { Page } from "./page.js";
import { createSite, RECONNECT_AFTER, type Site } from "./site.js";
import { Web } from "./web.js";

export interface Pages {
  web: Web;
  running: Page[];
  /** Called when faults are over. Checks that every page shows the right state, and ends the pages. */
  finish(): void;
  /** Whether these checks are done. */
  isFinished: boolean;
}

/**
 * How long a stream may be quiet before its page says that it is not live, ms. A stream that replaces a
 * dying stream has the time of a poll to deliver.
 */
const QUIET = RECONNECT_AFTER + 5000 + 2000;

export function createPages(world: World, start: StartShipped): Pages {
  const { scenario, timeline, faults, members } = world;
  const random = createRandom(scenario.seed ^ 0x632be59b);
  const { pages: plan } = scenario;
  const sites = new Map<Member, Site>();
  const siteOf = (member: Member) => {
    const site = sites.get(member) ?? createSite(start, member, plan.maxStreams);
    sites.set(member, site);
    return site;
  };
  const web = new Web({
    timeline,
    random: random.fork(),
    plan,
    tally: faults,
    hosts: () =>
      members.running.slice(0, 2).map((member) => ({
        process: member.process,
        site: siteOf(member),
      })),
  });
  let opened = 0;
  const pages: Pages = {
    web,
    running: [],
    isFinished: false,
    finish() {
      web.isFaulty = false;
      void finishPages(world, pages, random.fork()).then(
        () => (pages.isFinished = true),
        (error: unknown) => world.problems.push(`pages: ${(error as Error).stack}`),
      );
    },
  };

  function open(): void {
    const id = `page ${opened++}`;
    const clockError = (2 * random.next() - 1) * plan.clockError;
    const process = new Process({ timeline, random: random.fork(), clockError });
    const visitor = `visitor ${random.below(plan.visitors)}`;
    const { grants, calls } = world;
    const page = new Page({ id, visitor, process, random: random.fork(), web, grants }, start);
    pages.running.push(page);
    calls.note("page");
    process.read(() => {
      page
        .use(() => world.isOn)
        .catch((error: unknown) => {
          world.problems.push(`${id} failed: ${(error as Error).stack}`);
        });
    });
  }

  const happen: Partial<Record<Fault, () => void>> = {
    "broken stream": () => ofStreams(web, random)?.break(),
    "silent stream": () => ofStreams(web, random)?.silence(),
    "ended stream": () => ofStreams(web, random)?.end(),
    // Do not let events through earlier than an earlier fault allows.
    "held streams": () => {
      web.heldUntil = Math.max(web.heldUntil, timeline.now + random.between(1000, 60_000));
    },
    "frozen page": () => pause(random.pick(pages.running), random.between(1000, 20_000), "pause"),
    "sleeping page": () => pause(random.pick(pages.running), random.between(3000, 20_000), "sleep"),
    "page clock set": () => {
      const by = random.pick([-3_600_000, -2000, 2000, 3_600_000]);
      random.pick(pages.running).process.clockError += by;
    },
    "vanished page": () => {
      const page = random.pick(pages.running);
      page.isEnded = true;
      page.process.kill();
      web.forgetPage(page);
      pages.running = pages.running.filter((each) => each !== page);
      open();
    },
  };

  function pause(page: Page, ms: number, how: "pause" | "sleep"): void {
    page.process[how](ms);
    page.pausedUntil = Math.max(page.pausedUntil, timeline.now + ms);
  }

  for (const [fault, every] of Object.entries(plan.faults.every) as [Fault, number][]) {
    const next = () => {
      timeline.plan(every * (0.2 + 1.6 * random.next()), () => {
        if (!world.isOn) return;
        faults.note(fault);
        happen[fault]!();
        next();
      });
    };
    next();
  }
  for (let i = 0; i < plan.count; i++) open();
  takeBeside(world, pages, random.fork());
  holdBeside(world, pages);
  watchLive(world, pages);
  return pages;
}

function ofStreams({ sources }: Web, random: Random) {
  return sources.size === 0 ? undefined : random.pick([...sources]);
}

/** A page that says that it is live must have heard of its stream: a quiet stream has pings. */
function watchLive(world: World, pages: Pages): void {
  const { timeline, problems } = world;
  timeline.plan(1000, () => {
    for (const { id, isEnded, observer, heardAt, pausedUntil } of pages.running) {
      const quiet = timeline.now - Math.max(heardAt, pausedUntil);
      if (isEnded || observer.connection !== "live" || quiet <= QUIET) continue;
      problems.push(`${id} is live, and has heard nothing for ${quiet.toFixed(0)} ms`);
      return;
    }
    if (!pages.isFinished) watchLive(world, pages);
  });
}

/** Processes that take from the buckets of visitors, as other devices of the visitors would. */
function takeBeside(world: World, pages: Pages, random: Random): void {
  const next = () => {
    world.timeline.plan(random.between(50, 2000), () => {
      if (!world.isOn) return;
      next();
      const { visitor } = random.pick(pages.running);
      const member = random.pick(world.members.running);
      void take(world, member, random.pick(Object.keys(LIVE) as LiveName[]), visitor);
    });
  };
  next();
}

/** @returns whether the take was certainly granted. */
export async function take(
  { timeline, grants, failures }: World,
  { process, live }: Member,
  name: ShownName,
  key: string,
  count = 1,
): Promise<boolean> {
  return new Promise((resolve) => {
    process.read(() => {
      const start = timeline.now;
      live.limit(name, { key, count }).then(
        ({ ok }) => {
          if (ok) grants.push({ name, key: `${name} of ${key}`, count, start, end: timeline.now });
          resolve(ok);
        },
        (error: unknown) => {
          if (!isStoreFailure(error)) throw error;
          failures.set("take beside", error);
          resolve(false);
        },
      );
    });
  });
}
