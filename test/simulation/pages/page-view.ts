/** Compares what a page shows with what the database of the simulation holds. */
import { calculateRateLimit } from "../../../core/calculate.js";
import { HELD } from "../../../core/rows/hold.js";
import { sumShards } from "../../../core/shards.js";
import { EPOCH } from "../process.js";
import type { World } from "../simulate.js";
import type { ShownName } from "../workloads/context.js";
import type { Page } from "./page.js";
import type { Pages } from "./pages.js";

/** How long a page takes to learn of a change by another process, ms, besides the delays of messages. */
const HEARD = { live: 1500, polling: 5500, offline: 0 };
/** How long a page takes to notice that its stream is dead, and to open another one, ms. */
const DEAD_STREAM = 15_000;
/** Faults that keep a process from knowing the database's time. */
const UNSURE = /slow|frozen|busy|database clock/;

export class PageView {
  constructor(
    readonly world: World,
    readonly pages: Pages,
    readonly page: Page,
  ) {}

  report(problem: string): void {
    const { world, page } = this;
    world.problems.push(`${page.id} ${problem} (at ${world.timeline.now.toFixed(2)} ms)`);
  }

  /** The time of the database, epoch ms. */
  get serverNow(): number {
    return EPOCH + this.world.timeline.now + this.world.databaseClockError;
  }

  /** The largest delay of several messages from a page to the database and back, ms. */
  get way(): number {
    const { delay, pages } = this.world.scenario;
    return 4 * pages.delay.most + 16 * delay.most + 100;
  }

  /** How far a process may be from the time of the database, ms. */
  get serverError(): number {
    const { faults, scenario } = this.world;
    const isUnsure = [...faults.counts.keys()].some((fault) => UNSURE.test(fault));
    return 6 * scenario.delay.most + 5 + (isUnsure ? 8000 : 0);
  }

  /** How far the page may be ahead of the time of the processes, ms. */
  get error(): number {
    const { uncertainty } = this.page.observer.inspect();
    return this.serverError + (uncertainty === Infinity ? 0 : uncertainty) + 2;
  }

  /** How long the page takes to learn of a change by another process, ms. */
  get hearsWithin(): number {
    const { page, pages, world } = this;
    const isHeld = pages.web.heldUntil > world.timeline.now - 20_000;
    return (
      HEARD[page.observer.connection] +
      this.way +
      (isHeld ? 20_000 : 0) +
      15_000 * +(world.failures.size > 0)
    );
  }

  /**
   * Waits until the page has a live stream. A page that has slept shows the right state at once, by an
   * answer. Only missing pings tell it that its stream has died meanwhile.
   */
  async untilConnected(): Promise<void> {
    const { page, pages, world } = this;
    const { timeline } = world;
    const isDead = pages.web.sourcesOf(page).some(({ isConnected }) => !isConnected);
    if (isDead) await timeline.until(timeline.now + DEAD_STREAM);
  }

  limit(name: ShownName) {
    return this.page.observer.inspect().limits.find(({ item }) => item.name === name);
  }

  /** The differences between a limit that the page shows and the limit's rows. */
  wrongAbout(name: ShownName): string[] {
    const { world, page } = this;
    const { snapshot, debits } = this.limit(name) ?? {};
    if (snapshot === undefined) return [`${name} is not known`];
    if (page.observer.connection === "offline") return ["it is offline"];
    if (debits! > 0) return [`${name} has ${debits} debits`];
    const { config } = snapshot;
    const { shards = 1 } = config;
    const { rows } = world.network.server;
    // A read of a bucket ends its lapsed holds. So no lapsed hold is left soon after the last one lapses.
    const sum = rows.newest([`${HELD.prefix}${name}`, page.visitor, 0].join("\0"));
    if (sum !== null && sum !== undefined) return [`${name} still holds ${sum.used} tokens`];
    if (snapshot.held) return [`${name} holds nothing, and it shows ${snapshot.held} held`];
    const states = Array.from({ length: shards }, (_, i) =>
      rows.newest([name, page.visitor, i].join("\0")),
    );
    // After a clock was set back, some instants lie in the future.
    const at = Math.max(this.serverNow, snapshot.ts, ...states.map((state) => state?.ts ?? 0));
    const held = sumShards(states, config, at).value;
    const shown = calculateRateLimit(snapshot, config, at).value;
    if (Math.abs(held - shown) < 1e-6) return [];
    const { connection } = page.observer;
    return [`${name} holds ${held}, and it shows ${shown} (${connection})`];
  }

  /** Checks the page's estimate of the server's time. */
  checkClock(): void {
    const { now, offset, uncertainty } = this.page.observer.inspect();
    if (this.world.faults.counts.has("database clock set")) return;
    const ahead = now + offset - this.serverNow;
    const [most, least] = [this.error, -uncertainty - this.serverError - 2];
    if (ahead <= most && ahead >= least) return;
    this.report(`is ${ahead} ms ahead of the server, and thinks ${uncertainty}`);
  }
}
