/**
 * Listens to the channel while calls need what it tells, because a listener keeps a connection open. After a
 * minute without a call, it ends.
 */
import { startTimer } from "../timers/timer.js";
import type { ChangeChannel, ChangeListener } from "./change-channel.js";

/** How often a process that listens looks whether it still has to, ms. */
const SWEEP = 60_000;

export interface ListenWhileUsedOptions {
  /** Without one, nothing is heard. */
  channel: Pick<ChangeChannel, "subscribe"> | undefined;
  heard: ChangeListener;
  /** What is told from now on is not heard. */
  ended(): void;
}

export class ListenWhileUsed {
  private unsubscribe: (() => void) | undefined;
  private isUsed = false;

  constructor(private readonly options: ListenWhileUsedOptions) {}

  /** A call needs what was heard. */
  used(): void {
    this.isUsed = true;
  }

  /** Before what was heard is asked for anew. Does nothing while it listens. */
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
    // It does not keep the process alive.
    startTimer(sweep, SWEEP).unref();
  }
}
