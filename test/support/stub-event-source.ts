/** An EventSource whose events the test sends. `opened` lists those of a test in order. */
import type { EventSourceInit } from "../../client/fetch/index.js";

interface Event {
  data?: unknown;
}

export function createEventSources() {
  const opened: StubEventSource[] = [];

  class StubEventSource {
    readyState = 0;
    readonly #listeners = new Map<string, (event: Event) => void>();

    constructor(
      readonly url: string,
      readonly init: EventSourceInit,
    ) {
      opened.push(this);
    }

    addEventListener(type: string, listener: (event: Event) => void): void {
      this.#listeners.set(type, listener);
    }

    close(): void {
      this.readyState = 2;
    }

    get isClosed(): boolean {
      return this.readyState === 2;
    }

    /** The limits that the stream was opened for. */
    get names(): string[] {
      const items = new URL(this.url, "http://localhost").searchParams.get("items")!;
      return (JSON.parse(items) as { name: string }[]).map(({ name }) => name);
    }

    send(data: unknown): void {
      this.readyState = 1;
      this.#listeners.get("message")?.({ data: JSON.stringify(data) });
    }

    sendText(data: string): void {
      this.#listeners.get("message")?.({ data });
    }

    ping(): void {
      this.readyState = 1;
      this.#listeners.get("ping")?.({ data: "" });
    }

    /** @param readyState 0 where it connects anew by itself, 2 where it gave up. */
    fail(readyState: 0 | 2): void {
      this.readyState = readyState;
      this.#listeners.get("error")?.({});
    }
  }

  return { opened, EventSource: StubEventSource };
}
