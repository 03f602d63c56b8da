/**
 * Listens to the channel while calls need its news, because a listener keeps a connection open. Ends
 * listening after a minute or two without a call.
 */
import { startTimer } from "../timers/timer.js";
import type { ChangeChannel, ChangeListener } from "./change-channel.js";

/** How often to look whether a call has needed the news meanwhile, ms. */
const SWEEP = 60_000;

export interface ListenWhileUsedOptions {
  /** Without a channel, nothing is heard. */
  channel: Pick<ChangeChannel, "subscribe"> | undefined;
  heard: ChangeListener;
  /** Listening has ended: later changes are not heard. */
  ended(): void;
}

export class ListenWhileUsed {
  private unsubscribe: (() => void) | undefined;
  private isUsed = false;

  constructor(private readonly options: ListenWhileUsedOptions) {}

  /** A call has relied on the news. */
  used(): void {
    this.isUsed = true;
  }

  /**
   * Begins to listen. Call this before reading anew what the news is about. Does nothing while listening.
   */
  listen(): void {
    const { channel, heard } = this.options;
    if (channel === undefined || this.unsubscribe !== undefined) return;
    this.unsubscribe = channel.subscribe(heard);
    this.sweepLater();
  }

  private sweepLater(): void {
    const sweep = () => {
      if (this.isUsed) return this.sweepLater();
      this.unsubscribe?.();
      this.unsubscribe = undefined;
      this.options.ended();
    };
    this.isUsed = false;
    // The timer must not keep the process alive.
    startTimer(sweep, SWEEP).unref();
  }
}
