/** Listeners as in Node.js: a listener that is added twice is called twice, and must be removed twice. */
type Listener = (value: never) => void;

export class Events {
  readonly #listeners = new Map<string, Listener[]>();

  on(event: string, listener: Listener): this {
    this.#listeners.set(event, [...this.#of(event), listener]);
    return this;
  }

  removeListener(event: string, listener: Listener): this {
    const listeners = [...this.#of(event)];
    const index = listeners.lastIndexOf(listener);
    if (index >= 0) listeners.splice(index, 1);
    this.#listeners.set(event, listeners);
    return this;
  }

  listenerCount(event: string): number {
    return this.#of(event).length;
  }

  /** The largest number of listeners of one event. */
  get mostListeners(): number {
    return Math.max(0, ...[...this.#listeners.values()].map(({ length }) => length));
  }

  emit(event: string, value: unknown): boolean {
    const listeners = this.#of(event);
    for (const listener of listeners) listener(value as never);
    return listeners.length > 0;
  }

  #of(event: string): readonly Listener[] {
    return this.#listeners.get(event) ?? [];
  }
}
