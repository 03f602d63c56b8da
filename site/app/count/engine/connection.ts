/** The page's end of a process: one question at a time, each with one answer, and a bound for the wait. */
import { type FromProcess, readMessage, type ToProcess } from "./protocol.js";

/** How long a process may be silent, ms of the clock on the wall. */
const SILENCE = 2_000;
/** How long a process may take to start, ms: a slow phone loads its code meanwhile. */
const START = 10_000;

/** A process that does not keep to the protocol. Its message says so to the visitor. */
export class StoppedError extends Error {}

export class Connection {
  readonly #port: MessagePort;
  #waiting: { resolve(answer: FromProcess): void; reject(error: StoppedError): void } | undefined;
  #stopped: StoppedError | undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    port.addEventListener("message", ({ data }) => this.#receive(data));
    port.start();
  }

  send(message: ToProcess): void {
    const port = this.#port;
    port.postMessage(JSON.stringify(message));
  }

  /** Waits until the process is there. It has no code of a visitor yet. */
  async begin(): Promise<void> {
    await this.ask({ type: "collect" }, "events", START);
  }

  /** @throws StoppedError if the process is silent for too long, or has sent anything else. */
  async ask<TType extends FromProcess["type"]>(
    message: ToProcess,
    type: TType,
    patience = SILENCE,
  ): Promise<Extract<FromProcess, { type: TType }>> {
    if (this.#stopped) throw this.#stopped;
    const answer = await new Promise<FromProcess>((resolve, reject) => {
      const late = setTimeout(
        () => this.#stop(`It did not answer for ${patience / 1_000} s`),
        patience,
      );
      const done = () => clearTimeout(late);
      this.#waiting = {
        resolve: (found) => (done(), resolve(found)),
        reject: (error) => (done(), reject(error)),
      };
      this.send(message);
    });
    if (answer.type !== type) throw this.#stop("It sent a message of its own");
    return answer as Extract<FromProcess, { type: TType }>;
  }

  close(): void {
    this.#stop("The run was ended");
  }

  #receive(data: unknown): void {
    const answer = readMessage(data);
    const waiting = this.#waiting;
    if (answer === undefined || waiting === undefined) {
      this.#stop("It sent a message of its own");
      return;
    }
    this.#waiting = undefined;
    waiting.resolve(answer);
  }

  /** After the first reason, none counts. What is still in the port is dropped. */
  #stop(why: string): StoppedError {
    this.#port.close();
    this.#stopped ??= new StoppedError(why);
    this.#waiting?.reject(this.#stopped);
    this.#waiting = undefined;
    return this.#stopped;
  }
}
