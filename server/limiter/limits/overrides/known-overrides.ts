/**
 * The overrides that this process knows: a copy of the whole table, in memory. A call that finds the copy
 * older than `overridesFor` waits until the changes are read. Under steady load, the changes are read
 * before that age, beside the calls, so that no call waits. News from the channel make the copy old at
 * once.
 */
import type { ChangeChannel } from "../../../changes/change-channel.js";
import type { RateLimitLogger } from "../../../report/logger.js";
import { requestsOwnIo } from "../../../runtime/requests-own-io.js";
import type { OverrideRow } from "../../../store/override-table.js";
import { startTimer } from "../../../timers/timer.js";
import { ListenWhileUsed } from "../../../changes/listen-while-used.js";
import { OVERRIDES_DIGEST } from "../../../changes/overrides-digest.js";
import { AwaitedCommits } from "./awaited-commits.js";
import type { OverrideChange } from "./override-change.js";
import type { RateLimitOverride } from "../../types/override-types.js";
import type { OverridesOfLimit } from "./overrides-by-name.js";
import { OverrideReader, type ReadOverridesOptions } from "./read-overrides.js";

/** The part of `overridesFor` after which the table is read beside the calls. */
const REFRESH_AT = 1 / 2;
/** The first pause before a commit is looked for, ms. Each next pause is twice as long. */
const FIRST_LOOK = 20;

export interface KnownOverridesOptions extends ReadOverridesOptions {
  /** How old the table may be, ms. */
  overridesFor: number;
  channel: ChangeChannel | undefined;
  logger: RateLimitLogger;
}

export class KnownOverrides {
  private readonly reader: OverrideReader;
  /**
   * The changes that this process has written since the last read began. That read may not have seen
   * them.
   */
  private own: { at: number; change: OverrideChange }[] = [];
  /** When the last read began, by the monotonic clock, ms. */
  private readAt = -Infinity;
  /** How often the table has changed, as far as this process was told. */
  private news = 0;
  /** The value of `news` when the last read began. */
  private newsRead = 0;
  private reading: Promise<void> | undefined;
  private readonly listening: ListenWhileUsed;
  private hasWarned = false;
  private readonly awaited = new AwaitedCommits();
  private isLooking = false;
  private readonly sharesReads = !requestsOwnIo();

  constructor(private readonly options: KnownOverridesOptions) {
    this.reader = new OverrideReader(options, (row) => this.warn(row));
    this.listening = new ListenWhileUsed({
      channel: options.channel,
      heard: (digest) => {
        if (digest === OVERRIDES_DIGEST) this.changed();
      },
      // So the next call reads the table.
      ended: () => this.changed(),
    });
  }

  /**
   * The read that a call has to wait for; `undefined` where the copy is fresh enough.
   *
   * @param readWithin reads the table by the connection of the call's transaction.
   */
  fresh(readWithin?: () => Promise<OverrideRow[]>): Promise<void> | undefined {
    this.listening.used();
    const { overridesFor } = this.options;
    // An awaited transaction may have been committed meanwhile.
    if (this.awaited.isAny) this.changed();
    const age = performance.now() - this.readAt;
    if (age >= overridesFor || this.newsRead < this.news) {
      return readWithin === undefined ? this.readAgain() : this.useWithin(readWithin);
    }
    // Where requests own their I/O, no request can wait for the read of another request, or read on after
    // its own answer.
    if (age < overridesFor * REFRESH_AT || !this.sharesReads) return undefined;
    // A failure is ignored here: a later call that has to wait reads again, and gets the error.
    this.read().catch(() => {});
    return undefined;
  }

  /** Reads the table, if need be more than once, until all news from before this call are known. */
  async readAgain(): Promise<void> {
    const { news } = this;
    do await this.read();
    while (this.newsRead < news);
  }

  /**
   * Uses the rows that a transaction sees. These rows can be older than a read that began before, so the
   * copy does not count as read.
   */
  private async useWithin(readWithin: () => Promise<OverrideRow[]>): Promise<void> {
    const { readAt } = this;
    const rows = await readWithin();
    if (this.readAt === readAt) this.reader.use(rows);
    // So that later calls need not read the table within their transactions.
    if (this.sharesReads) this.read().catch(() => {});
  }

  /**
   * A transaction of the application has changed the table. Until its commit is seen, and for five
   * seconds at most, each call reads the table, and a timer does where there are no calls.
   */
  awaitCommit(tx: unknown, change: OverrideChange, seen: () => void): void {
    this.awaited.add(tx, change, seen);
    if (this.sharesReads) this.lookAfter(FIRST_LOOK);
  }

  /** Whether the commit of this transaction is looked for. */
  isAwaited(tx: unknown): boolean {
    return this.awaited.isAwaited(tx);
  }

  private lookAfter(ms: number): void {
    if (this.isLooking) return;
    this.isLooking = true;
    const look = async () => {
      await this.read().catch(() => {});
      this.isLooking = false;
      if (this.awaited.isAny) this.lookAfter(2 * ms);
    };
    // The timer does not keep the process alive.
    startTimer(() => void look(), ms).unref();
  }

  /** The table has changed: the copy, and any read that has begun, is old. */
  changed(): void {
    this.news++;
  }

  /** All rows of the table, after a look at it. */
  async rows(): Promise<Iterable<OverrideRow>> {
    this.changed();
    await this.readAgain();
    return this.reader.copy.rows();
  }

  /** The overrides of a limit; `undefined` if the limit has none. */
  of(name: string): OverridesOfLimit | undefined {
    return this.reader.copy.of(name);
  }

  /** This process has changed the table, and obeys at once. */
  wrote(change: OverrideChange): void {
    this.own.push({ at: performance.now(), change });
    this.obey(change);
  }

  private obey({ id, row }: OverrideChange): void {
    if (row === undefined) this.reader.copy.delete(id);
    else this.reader.copy.put(row);
  }

  /** All overrides of a limit. */
  *ofName(name: string): Generator<RateLimitOverride, void, undefined> {
    const found = this.of(name);
    if (found === undefined) return;
    for (const { override } of found.all) yield override;
    for (const layers of found.byKey.values()) for (const { override } of layers) yield override;
  }

  private read(): Promise<void> {
    this.listening.listen();
    if (!this.sharesReads) return this.readTable();
    this.reading ??= this.readTable().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readTable(): Promise<void> {
    const { news } = this;
    const sentAt = performance.now();
    const copy = await this.reader.read();
    // Where reads are not shared, an earlier read may be answered after a later one.
    if (sentAt < this.readAt) return;
    this.own = this.own.filter(({ at }) => at >= sentAt);
    for (const { change } of this.own) this.obey(change);
    this.readAt = sentAt;
    this.newsRead = news;
    this.awaited.look((id) => copy.row(id));
  }

  private warn({ name }: OverrideRow): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    this.options.logger.warn(
      `trpc-rate-limit: an override of "${name}" in the table is not valid, and is left out; set or ` +
        "clear it anew. A newer version of this package may have written it. This is reported once.",
    );
  }
}
