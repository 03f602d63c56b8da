/** Channels of several limiters in one process, which deliver at once, as JSON. */
import type { ChangeListener, MessageListener } from "../../server/index.js";

export function localChannels(count: number) {
  const ends = Array.from({ length: count }, () => {
    return { changes: new Set<ChangeListener>(), messages: new Set<MessageListener>() };
  });
  /** All messages that were sent, in order. */
  const sent: unknown[] = [];
  const channels = ends.map((own) => {
    const others = ends.filter((end) => end !== own);
    return {
      publish(digest: string) {
        for (const { changes } of others) for (const listener of changes) listener(digest);
      },
      subscribe(listener: ChangeListener) {
        own.changes.add(listener);
        return () => void own.changes.delete(listener);
      },
      send(message: unknown) {
        sent.push(message);
        const text = JSON.stringify(message);
        for (const { messages } of others) {
          for (const listener of messages) listener(JSON.parse(text));
        }
      },
      receive(listener: MessageListener) {
        own.messages.add(listener);
        return () => void own.messages.delete(listener);
      },
    };
  });
  return { channels, sent };
}
