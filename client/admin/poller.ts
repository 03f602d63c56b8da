/**
 * Asks now, and again and again while the page is visible.
 *
 * | state   | what is there | it ends                                                      |
 * | ------- | ------------- | ------------------------------------------------------------ |
 * | asking  | `#asking`     | with the answer, or when something asks again                |
 * | waiting | `#timer`      | when the time is over: asks                                  |
 * | resting | neither       | when the page becomes visible or gets online, once it is `start`ed |
 */
export class Poller {
  readonly #question: (signal: AbortSignal) => Promise<number | undefined>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: AbortController | undefined;

  /**
   * @param question never rejects. Tells how many ms later the next question is due; `undefined` where
   * none is.
   */
  constructor(question: (signal: AbortSignal) => Promise<number | undefined>) {
    this.#question = question;
  }

  /** Asks at once, and drops an answer that is on its way. */
  readonly ask = (): void => {
    this.#cancel();
    const { signal } = (this.#asking = new AbortController());
    void this.#question(signal).then((wait) => {
      if (signal.aborted) return;
      this.#asking = undefined;
      if (wait !== undefined && !document.hidden) this.#timer = setTimeout(this.ask, wait);
    });
  };

  /** Asks now, and listens. */
  start(): void {
    this.ask();
    document.addEventListener("visibilitychange", this.#wake);
    window.addEventListener("online", this.ask);
  }

  stop(): void {
    this.#cancel();
    document.removeEventListener("visibilitychange", this.#wake);
    window.removeEventListener("online", this.ask);
  }

  /** Asks when a page becomes visible. A hidden page asks nothing. */
  readonly #wake = (): void => {
    if (!document.hidden && this.#timer === undefined && !this.#asking) this.ask();
  };

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#asking?.abort();
  }
}
