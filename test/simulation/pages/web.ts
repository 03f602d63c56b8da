/**
 * The network between pages and the processes that serve them: requests, and streams like those of a
 * browser's `EventSource`. A random process receives each request, as behind a load balancer.
 */
import { type Fault, faultOfStatement, type Tally } from "../faults.js";
import type { Process } from "../process.js";
import type { Random } from "../random.js";
import type { Timeline } from "../timeline.js";
import { EventSourceModel } from "./event-source.js";
import type { PagesPlan } from "./plan.js";
import type { Served, Site } from "./site.js";

/** A process that serves pages. */
export interface Host {
  process: Process;
  site: Site;
}

/** A page, as the network sees it. */
export interface Visitor {
  process: Process;
  visitor: string;
  /** When an event of a stream has arrived last, ms. */
  heardAt: number;
}

export interface WebOptions {
  timeline: Timeline;
  random: Random;
  plan: PagesPlan;
  tally: Tally<Fault>;
  /** The processes that serve now. */
  hosts(): Host[];
}

/** After this time, a browser gives a request up, ms. */
const GIVEN_UP = 30_000;

interface Pending {
  page: Visitor;
  host: Host;
  fail(): void;
}

export class Web {
  readonly #options: WebOptions;
  /** Faults of requests happen while this is true. */
  isFaulty = true;
  /** No event of a stream passes before this instant. */
  heldUntil = 0;
  /** The sources that their pages have not closed. */
  readonly sources = new Set<EventSourceModel>();
  /** The streams that are still served: an entry with the process for each stream. */
  readonly served = new Set<{ process: Process }>();
  readonly #pending = new Set<Pending>();

  constructor(options: WebOptions) {
    this.#options = options;
  }

  get timeline(): Timeline {
    return this.#options.timeline;
  }

  delay(): number {
    const { random, plan } = this.#options;
    const { least, most } = plan.delay;
    return least + (most - least) * random.next() ** 3;
  }

  host(): Host {
    return this.#options.random.pick(this.#options.hosts());
  }

  sourcesOf(page: Visitor): EventSourceModel[] {
    return [...this.sources].filter((source) => source.page === page);
  }

  /** The class that replaces `EventSource` in a page. */
  eventSourceOf(page: Visitor): new (url: string) => EventSourceModel {
    // oxlint-disable-next-line typescript/no-this-alias -- The class below has its own.
    const web = this;
    return class extends EventSourceModel {
      constructor(url: string) {
        super(web, page, url);
      }
    };
  }

  /** Sends a request to a process. Rejects if no answer comes. */
  ask(page: Visitor, path: string, input: unknown): Promise<Served> {
    const { random, timeline, plan, tally } = this.#options;
    const fault = this.isFaulty ? faultOfStatement(plan.faults, random) : undefined;
    if (fault) tally.note(fault);
    const host = this.host();
    return new Promise((resolve, reject) => {
      const after = (ms: number, run: () => void) =>
        timeline.plan(ms, () => page.process.read(() => this.#pending.delete(pending) && run()));
      const fail = () => void after(this.delay(), () => reject(new Error("Failed to fetch")));
      const pending: Pending = { page, host, fail };
      this.#pending.add(pending);
      after(GIVEN_UP, () => reject(new Error("Failed to fetch")));
      if (fault === "lost question") return fail();
      const text = JSON.stringify(input);
      timeline.plan(this.delay(), () => {
        if (host.process.isDead) return fail();
        host.process.read(() => {
          void host.site.serve(path, JSON.parse(text), page.visitor).then((served) => {
            if (fault === "hanging question" || host.process.isDead) return;
            if (fault === "lost answer") return fail();
            const extra = fault === "slow page answer" ? random.between(50, 6000) : 0;
            const answer = JSON.stringify(served);
            after(this.delay() + extra, () => resolve(JSON.parse(answer) as Served));
          });
        });
      });
    });
  }

  /** Called when a process has ended: its connections break. */
  forgetHost(process: Process): void {
    for (const { host, fail } of this.#pending) if (host.process === process) fail();
    for (const source of this.sources) if (source.host?.process === process) source.break();
  }

  /** Called when a page has vanished silently. Processes notice after a while. */
  forgetPage(page: Visitor): void {
    for (const pending of this.#pending) if (pending.page === page) this.#pending.delete(pending);
    for (const source of this.sourcesOf(page)) {
      source.silence();
      source.close();
    }
  }
}
