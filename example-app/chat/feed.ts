/**
 * The messages of all server processes, for all subscribers of this process. One query at an interval
 * serves all subscribers. Without subscribers there is no query.
 */
import { EventEmitter, on } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Message, PrismaClient } from "../shared/generated/prisma/client.js";

/** The most messages that a subscriber gets at once. The page shows as many. */
const SHOWN = 100;
/** How often other processes' messages are read, ms. */
const INTERVAL = 500;
/**
 * How many ids are read again. PostgreSQL and MySQL give out ids before they commit, so a message can
 * appear after a message with a higher id.
 */
const OVERLAP = 20;

export function createChatFeed(prisma: Pick<PrismaClient, "message">, interval: number = INTERVAL) {
  const emitter = new EventEmitter<{ added: [readonly Message[]] }>().setMaxListeners(0);
  /** The newest messages, in the order of their ids. */
  let recent: readonly Message[] = [];
  /**
   * The highest id that was read from the database. A message that was published here does not count:
   * messages before it may not have been read.
   */
  let lastRead = 0;
  let isPolling = false;
  let starting: Promise<void> | undefined;

  function add(messages: readonly Message[]): void {
    const known = new Set(recent.map(({ id }) => id));
    const added = messages.filter(({ id }) => !known.has(id));
    if (added.length === 0) return;
    recent = [...recent, ...added].sort((a, b) => a.id - b.id).slice(-SHOWN);
    emitter.emit("added", added);
  }

  async function read(): Promise<void> {
    const messages = await prisma.message.findMany({
      where: { id: { gt: lastRead - OVERLAP } },
      orderBy: { id: "desc" },
      take: SHOWN,
    });
    lastRead = Math.max(lastRead, messages[0]?.id ?? 0);
    add(messages.reverse());
  }

  async function poll(): Promise<void> {
    isPolling = true;
    await setTimeout(interval);
    while (emitter.listenerCount("added") > 0) {
      // While the database does not answer there is no news. The next read catches up.
      await read().catch(() => {});
      await setTimeout(interval);
    }
    isPolling = false;
  }

  return {
    /** Tells the subscribers of this process at once. */
    publish: (message: Message) => add([message]),

    /**
     * Yields the newest messages at once, and later messages as they come. A message may come after a
     * message with a higher id. A reader who comes back gets some messages again.
     *
     * @param after the last id that the reader has, or 0.
     */
    async *follow(after: number, signal: AbortSignal | undefined) {
      // Without a poll, nothing has kept `recent` up to date. Readers that start together share one read.
      if (!isPolling) await (starting ??= read().finally(() => (starting = undefined)));
      // The next lines run without an `await`, so no message is added between them.
      const added = on(emitter, "added", { signal });
      const first = recent.filter(({ id }) => id > after - OVERLAP);
      if (!isPolling) void poll();
      try {
        yield first;
        for await (const [messages] of added) yield messages as readonly Message[];
      } finally {
        await added.return?.();
      }
    },
  };
}
