/**
 * Counts the open streams of each caller, and the streams of all callers without a key together.
 *
 * A stream that its client opens anew replaces the client's former stream. The server may not know yet
 * that the former stream is dead, because no packet says that a connection has lost its network.
 *
 * Where each request owns its I/O, a stream of a client that has gone may end silently: none of the
 * stream's code runs again. There, each stream notes every 5 s that it is open, and counts for 15 s after
 * the last note.
 */
import { requestsOwnIo } from "../runtime/requests-own-io.js";

/** How often a stream notes that it is open, ms. */
const BEAT = 5000;
/** For how long a stream counts after its last note, ms. The notes of a busy process may be late. */
const LASTS = 3 * BEAT;

/** The facts that are known of a stream. */
export interface StreamFacts {
  /** The id that the client has chosen for the stream, and sends again when the client reconnects. */
  id?: string | undefined;
  /** How many keys the client has requested. @default 0 */
  requested?: number;
  /** Called when another stream replaces this stream, which is then no longer counted. */
  onReplaced?: () => void;
}

interface Stream extends StreamFacts {
  requested: number;
  /** The last note, by the monotonic clock, ms. */
  seenAt: number;
  /** Stops counting the stream. */
  end: () => void;
}

/** All streams of clients that have requested keys. */
const REQUESTING = Symbol("requesting");
/** All streams of callers without a key. */
const KEYLESS = Symbol("keyless");
type Key = string | typeof REQUESTING | typeof KEYLESS;

export class OpenStreams {
  private readonly byKey = new Map<Key, Set<Stream>>();
  private readonly canVanish = requestsOwnIo();

  count(key: string): number {
    return this.of(key).size;
  }

  /** The streams of callers without a key. */
  keyless(): number {
    return this.of(KEYLESS).size;
  }

  /** Ends the stream of these callers that has this id. Streams of other callers may have the same id. */
  replace(callers: ReadonlySet<string>, id: string): void {
    for (const key of keysOf(callers)) {
      for (const stream of this.of(key)) {
        if (stream.id !== id) continue;
        stream.end();
        stream.onReplaced?.();
      }
    }
  }

  /** How many keys the clients of all streams have requested. */
  requested(): number {
    let sum = 0;
    for (const stream of this.of(REQUESTING)) sum += stream.requested;
    return sum;
  }

  /** @returns a function that stops counting the stream. */
  add(callers: ReadonlySet<string>, facts: StreamFacts = {}): () => void {
    const { requested = 0 } = facts;
    const keys = [...keysOf(callers), ...(requested > 0 ? ([REQUESTING] as const) : [])];
    const end = () => {
      clearInterval(beat);
      for (const key of keys) this.remove(key, stream);
    };
    const stream: Stream = { ...facts, requested, seenAt: performance.now(), end };
    for (const key of keys) {
      const others = this.byKey.get(key);
      if (others === undefined) this.byKey.set(key, new Set([stream]));
      else others.add(stream);
    }
    const beat = this.canVanish
      ? setInterval(() => (stream.seenAt = performance.now()), BEAT)
      : undefined;
    return end;
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

function keysOf(callers: ReadonlySet<string>): Key[] {
  return callers.size === 0 ? [KEYLESS] : [...callers];
}
