/**
 * The streams of `watch`. A stream follows each limit once, and counts for its caller. The stream goes on
 * when the plan of the caller changes, and ends when one of its keys is no longer the caller's.
 */
import { bucketId } from "../../core/bucket-id.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { Item } from "./live-inputs.js";
import { OpenStreams, type StreamFacts } from "./open-streams.js";
import { StreamChecks } from "./stream-checks.js";
import { RefusedRequest } from "./refused.js";
import type { WatchItem } from "./watch-entries.js";
import type { WatchHub } from "./watch-hub.js";
import { keyOption } from "../../core/key-option.js";

/** The keys that all clients together may request, for each stream that one caller may have. */
const REQUESTED_PER_STREAM = 500;
/**
 * The streams that all callers without a key may open together, for each stream that one caller may have.
 * Each change of a shared bucket goes out on all these streams: 3,000 streams made other calls wait for
 * 1.3 s.
 */
const KEYLESS_PER_STREAM = 100;

export interface WatchStreamsOptions<TName extends string> {
  /** All limits that callers may read. */
  names: readonly TName[];
  hub: WatchHub<TName>;
  /** The most streams that one caller may have open. */
  maxStreams: number;
  /** ms between two checks of an open stream's keys and plans. */
  keyInterval: number;
  /** The key of the bucket. Rejects if the caller may not read it. */
  keyFor(ctx: unknown, name: TName, requested: string | undefined): Promise<string | undefined>;
  /** The plan of the bucket; `undefined` for a limit without plans. */
  planFor(ctx: unknown, name: string, key: string | undefined): Promise<string | undefined>;
}

/** The input that a client sends to open a stream. */
export interface WatchInput<TName extends string> {
  items: readonly Item<TName>[];
  /** The id of the stream. The client sends the same id again when it reconnects by itself. */
  stream?: string | undefined;
}

export function createWatchStreams<TName extends string>(
  options: WatchStreamsOptions<TName>,
): WatchStreams<TName> {
  return new WatchStreams(options);
}

class WatchStreams<TName extends string> {
  readonly #open = new OpenStreams();

  constructor(private readonly options: WatchStreamsOptions<TName>) {}

  /** Yields as the hub does. Throws a `RefusedRequest` when the caller has too many streams open. */
  async *watch(
    ctx: unknown,
    { items: requested, stream: id }: WatchInput<TName>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<RateLimitSnapshot<TName>, void, undefined> {
    const items = await this.#resolve(ctx, requested);
    const callers = await this.#callersOf(ctx, items);
    const close = this.#admit(callers, {
      id,
      requested: items.filter(isRequested).length,
      onReplaced: () => checks.end(),
    });
    const { hub, keyInterval } = this.options;
    const checks = new StreamChecks(items, {
      hub,
      keyInterval,
      signal,
      resolve: (current) => this.#resolve(ctx, current.map(toRequested)),
    });
    try {
      for (let turn = checks.next(); turn !== undefined; turn = checks.next()) {
        yield* hub.watch(turn.items, turn.signal);
      }
      checks.throwIfRejected();
    } finally {
      checks.stop();
      close();
    }
  }

  #resolve(ctx: unknown, requested: readonly Item<TName>[]): Promise<WatchItem<TName>[]> {
    const { keyFor, planFor } = this.options;
    const distinct = new Map(requested.map((item) => [bucketId(item.name, item.key), item]));
    const resolving = [...distinct.values()].map(
      async ({ name, key: requestedKey }): Promise<WatchItem<TName>> => {
        const key = await keyFor(ctx, name, requestedKey);
        const plan = await planFor(ctx, name, key);
        return { name, ...keyOption(key), plan, requested: requestedKey };
      },
    );
    return Promise.all(resolving);
  }

  /**
   * The keys for which a stream counts: the keys that its caller has without a request. Requested keys do
   * not count: many callers may request the key of a team, and a few callers would shut out the others.
   *
   * A caller who only requests keys can make keys up. Such a stream counts for the caller's own keys of
   * other limits, such as the key of its address. A stream that follows shared buckets alone counts in
   * the same way. A caller without any own key counts for the keys that it requests, or among all callers
   * without a key.
   */
  async #callersOf(ctx: unknown, items: readonly WatchItem<TName>[]): Promise<Set<string>> {
    const own = await this.#ownKeys(ctx, items, new Set(items.map(({ name }) => name)));
    if (own.size > 0) return own;
    const others = await this.#ownKeys(ctx, items, new Set(this.options.names));
    return others.size > 0 ? others : new Set(items.flatMap(({ key }) => key ?? []));
  }

  /** The keys that a caller has of these limits without a request. */
  async #ownKeys(
    ctx: unknown,
    items: readonly WatchItem<TName>[],
    of: ReadonlySet<TName>,
  ): Promise<Set<string>> {
    const keys = await Promise.all(
      [...of].map(async (name) => {
        const known = items.find((item) => item.name === name && !isRequested(item));
        return known ? known.key : this.options.keyFor(ctx, name, undefined).catch(() => undefined);
      }),
    );
    return new Set(keys.flatMap((key) => key ?? []));
  }

  /**
   * Counts a stream, and returns a function that stops counting it. The stream replaces the caller's
   * stream with the same id. If there are too many streams, the newest stream is rejected. Closing an
   * older stream instead would not help: its client would open the older stream again at once, and close
   * another stream.
   */
  #admit(callers: ReadonlySet<string>, facts: StreamFacts & { requested: number }): () => void {
    const { maxStreams } = this.options;
    const { id, requested } = facts;
    if (id !== undefined) this.#open.replace(callers, id);
    for (const key of callers) {
      if (this.#open.count(key) < maxStreams) continue;
      throw tooMany(`This caller has ${maxStreams} streams open, and may not have more`);
    }
    const mostKeyless = maxStreams * KEYLESS_PER_STREAM;
    if (callers.size === 0 && this.#open.keyless() >= mostKeyless) {
      throw tooMany(
        `Callers without a key have ${mostKeyless} streams of this process open, and may not have more`,
      );
    }
    const most = maxStreams * REQUESTED_PER_STREAM;
    if (requested > 0 && this.#open.requested() + requested > most) {
      throw tooMany(
        `Streams of this process follow ${most} requested keys, and may not follow more`,
      );
    }
    return this.#open.add(callers, facts);
  }
}

/**
 * tRPC's client must not reconnect on this code. Clients of this package poll instead, and try a stream
 * again after growing pauses. A client that reconnects by itself is not refused: it sends the id of the
 * stream that it replaces.
 */
function tooMany(message: string): RefusedRequest {
  return new RefusedRequest("CONFLICT", message);
}

function toRequested<TName extends string>({ name, requested }: WatchItem<TName>) {
  return { name, key: requested };
}

function isRequested({ requested }: WatchItem<string>): boolean {
  return requested !== undefined;
}
