/**
 * Notifies processes of each other's changes through PUBLISH and SUBSCRIBE of Redis, so that a reader
 * need not wait for the next tick. Messages carry digests and no state. If a message is lost, the next
 * tick finds the change.
 */
import { RateLimitConfigError } from "../../core/errors.js";
import type { ChangeChannel, ChangeListener, MessageListener } from "../changes/change-channel.js";
import {
  COALESCE,
  MAX_MESSAGES,
  MAX_PAYLOADS,
  MAX_PENDING,
  messagePayload,
  newSender,
  payloadsOf,
  readPayload,
} from "../changes/change-payloads.js";
import { type RedisClientLike, redisPort } from "./clients/recognize-client.js";
import type { RedisPort } from "./redis-port.js";

/** A connection that only subscribes, of ioredis, iovalkey or node-redis. */
export interface RedisSubscriberLike {
  /** The client's own. */
  subscribe(channel: never, ...rest: never[]): unknown;
  /** The client's own. */
  on(event: never, listener: never): unknown;
}

/** The options of `redisChannel`. */
export interface RedisChannelOptions {
  /** The name of the channel of Redis; the same in all processes. @default "rate-limit" */
  channel?: string | undefined;
  /**
   * The connection that subscribes. A connection that subscribes can do little else.
   * @default a duplicate of the client, which `close` ends
   */
  subscriber?: RedisSubscriberLike | undefined;
}

/** A client that can make a second connection. */
interface Duplicable {
  duplicate?: () => Subscriber;
}

/** The methods of a subscriber in the three packages. Optional methods are missing in some packages. */
interface Subscriber {
  subscribe(channel: string, listener?: (message: string) => void): Promise<unknown>;
  isOpen?: boolean;
  connect?(): Promise<unknown>;
  unsubscribe?(channel: string, listener: (message: string) => void): Promise<unknown>;
  on(event: string, listener: (channel: string, message: string) => void): unknown;
  removeListener(event: string, listener: (channel: string, message: string) => void): unknown;
  disconnect?(): unknown;
  destroy?(): unknown;
}

/**
 * A channel through Redis, so that `watch` learns of the changes of other processes at once.
 *
 * @param client publishes. It may be the client of the store.
 * @throws RateLimitConfigError when the client is not known, or when there is no `subscriber` and the
 * client cannot be duplicated.
 *
 * @example
 * import { Redis } from "ioredis";
 * import { redisChannel, redisStore } from "trpc-rate-limit/redis";
 *
 * const client = new Redis(process.env.REDIS_URL!);
 * const store = redisStore(client);
 * const channel = redisChannel(client); // for createRateLimiter({ store, channel, limits })
 */
export function redisChannel(
  client: RedisClientLike,
  { channel = "rate-limit", subscriber: given }: RedisChannelOptions = {},
): ChangeChannel & { close(): Promise<void> } {
  const port = redisPort(client);
  const { duplicate } = client as unknown as Duplicable;
  if (given === undefined && typeof duplicate !== "function") {
    throw new RateLimitConfigError("subscriber", given, "a connection of ioredis or node-redis");
  }
  return new RedisChannel({
    port,
    channel,
    given: given as unknown as Subscriber | undefined,
    duplicate: () => duplicate!.call(client),
  });
}

interface RedisChannelParts {
  port: RedisPort;
  channel: string;
  given: Subscriber | undefined;
  duplicate(): Subscriber;
}

class RedisChannel implements ChangeChannel {
  readonly #parts: RedisChannelParts;
  readonly #sender = newSender();
  readonly #listeners = new Set<ChangeListener>();
  readonly #receivers = new Set<MessageListener>();
  /** The payloads of the messages that are sent next. */
  #messages: string[] = [];
  /** The digests of the changes that are sent next. */
  #pending = new Set<string>();
  #flushTimer: ReturnType<typeof setTimeout> | undefined;
  /** The duplicate of the client. */
  #own: Subscriber | undefined;
  /** Whether the channel subscribes, or has subscribed. */
  #isOpen = false;
  #isClosed = false;

  constructor(parts: RedisChannelParts) {
    this.#parts = parts;
  }

  readonly publish = (digest: string): void => {
    if (this.#isClosed) return;
    if (this.#pending.size < MAX_PENDING) this.#pending.add(digest);
    this.#flushTimer ??= setTimeout(() => this.#flush(), COALESCE);
  };

  readonly subscribe = (listener: ChangeListener): (() => void) => {
    if (this.#isClosed) return () => {};
    this.#listeners.add(listener);
    void this.#open();
    return () => this.#listeners.delete(listener);
  };

  readonly send = (message: unknown): void => {
    if (this.#isClosed) return;
    const payload = messagePayload(this.#sender, message);
    if (payload !== undefined && this.#messages.length < MAX_MESSAGES) this.#messages.push(payload);
    this.#flushTimer ??= setTimeout(() => this.#flush(), COALESCE);
  };

  readonly receive = (listener: MessageListener): (() => void) => {
    if (this.#isClosed) return () => {};
    this.#receivers.add(listener);
    void this.#open();
    return () => this.#receivers.delete(listener);
  };

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#receivers.clear();
    clearTimeout(this.#flushTimer);
    this.#end();
  };

  /** Subscribes. The client subscribes again by itself when its connection is lost. */
  async #open(): Promise<void> {
    if (this.#isOpen || this.#isClosed) return;
    this.#isOpen = true;
    const { channel, given, duplicate } = this.#parts;
    if (given === undefined) this.#own = duplicate();
    const subscriber = this.#own ?? given!;
    // Listen to errors: an error without a listener would end the process.
    this.#own?.on("error", () => {});
    try {
      // node-redis takes the listener as an argument. ioredis would take that argument for another
      // channel.
      if (typeof subscriber.isOpen === "boolean") {
        if (!subscriber.isOpen) await subscriber.connect!();
        await subscriber.subscribe(channel, this.#receive);
      } else {
        subscriber.on("message", this.#hear);
        await subscriber.subscribe(channel);
      }
    } catch {
      // Treat the error as a server that is down: the next listener tries again.
      this.#isOpen = false;
      this.#end();
    }
  }

  /** Ends the own connection. A connection of the application goes on without a listener of the channel. */
  #end(): void {
    const last = this.#own;
    this.#own = undefined;
    (last?.destroy ?? last?.disconnect)?.call(last);
    const { channel, given } = this.#parts;
    given?.removeListener("message", this.#hear);
    // ioredis would unsubscribe other listeners of the application, too.
    if (given?.isOpen === true) given.unsubscribe!(channel, this.#receive).catch(() => {});
  }

  readonly #hear = (from: string, message: string): void => {
    if (from === this.#parts.channel) this.#receive(message);
  };

  readonly #receive = (payload: string): void => {
    const { from, digests, messages } = readPayload(payload);
    if (from === this.#sender) return;
    for (const digest of digests) for (const listener of this.#listeners) listener(digest);
    for (const message of messages) for (const receiver of this.#receivers) receiver(message);
  };

  #flush(): void {
    this.#flushTimer = undefined;
    const changes = payloadsOf(this.#sender, [...this.#pending]);
    const payloads = [...this.#messages, ...(changes.length > MAX_PAYLOADS ? [] : changes)];
    this.#pending = new Set();
    this.#messages = [];
    const { port, channel } = this.#parts;
    for (const payload of payloads) {
      port.send(["PUBLISH", channel, payload], undefined).catch(() => {});
    }
  }
}
