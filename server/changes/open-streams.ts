/**
 * Counts the open streams of each caller. Where each request owns its I/O, a stream whose client has
 * gone may end without a word: none of its code runs again. So a stream says there now and then that
 * it is open, and counts only for a while after that.
 */
import { requestsOwnIo } from "../runtime/requests-own-io.js";

/** How often a stream says that it is open, ms. */
const BEAT = 5000;
/** For how long it counts after that, ms. A busy stream may be late. */
const LASTS = 3 * BEAT;

interface Stream {
  /** How many keys its client has requested. */
  requested: number;
  /** By the monotonic clock, ms. */
  seenAt: number;
}

/** All streams whose clients have requested keys. */
const REQUESTING = Symbol("requesting");
type Key = string | typeof REQUESTING;

export class OpenStreams {
  private readonly byKey = new Map<Key, Set<Stream>>();
  private readonly canVanish = requestsOwnIo();

  count(key: string): number {
    return this.of(key).size;
  }

  /** How many keys the clients of all streams have requested. */
  requested(): number {
    let sum = 0;
    for (const stream of this.of(REQUESTING)) sum += stream.requested;
    return sum;
  }

  /** @returns a function that ends the stream. */
  add(callers: ReadonlySet<string>, requested = 0): () => void {
    const keys: Key[] = [...callers, ...(requested > 0 ? ([REQUESTING] as const) : [])];
    const stream: Stream = { requested, seenAt: performance.now() };
    for (const key of keys) {
      const others = this.byKey.get(key);
      if (others === undefined) this.byKey.set(key, new Set([stream]));
      else others.add(stream);
    }
    const beat = this.canVanish
      ? setInterval(() => (stream.seenAt = performance.now()), BEAT)
      : undefined;
    return () => {
      clearInterval(beat);
      for (const key of keys) this.remove(key, stream);
    };
  }

  private of(key: Key): ReadonlySet<Stream> {
    const streams = this.byKey.get(key) ?? new Set();
    if (this.canVanish) {
      const now = performance.now();
      for (const stream of streams) if (now - stream.seenAt > LASTS) this.remove(key, stream);
    }
    return streams;
  }

  private remove(key: Key, stream: Stream): void {
    const streams = this.byKey.get(key);
    streams?.delete(stream);
    if (streams?.size === 0) this.byKey.delete(key);
  }
}
