/**
 * Tells a database that is silent from one that is busy. A batch may have no answer for long because
 * a transaction holds its row. So a probe is sent, a statement that waits for no row. Silence is a
 * probe without an answer.
 */
import { afterAnswers } from "../../timers/next-tick.js";
import type { RowAccess } from "../row-access.js";

/** The most probes without an answer. Each probe keeps a connection. */
const MAX_PROBES = 2;

interface Probe {
  /** The `answeredAt` at which the probe was sent. */
  readonly after: number;
  /** Whether the probe has a connection, as far as the driver tells. */
  isSent: boolean;
}

export class Silence {
  /** When the database last answered anything, a batch or a probe, by the monotonic clock. */
  answeredAt = -Infinity;
  /** The `answeredAt` since which the database was found to be silent. */
  private silentSince: number | undefined;
  /** The last probe without an answer. */
  private probe: Probe | undefined;
  private unanswered = 0;

  constructor(private readonly access: Pick<RowAccess, "probe" | "isExhausted">) {}

  isSilentSince(since: number): boolean {
    return this.silentSince === this.answeredAt && this.answeredAt <= since;
  }

  /** Called now and then while something has no answer. */
  look(): void {
    const { probe } = this;
    // An answer to anything says more than the probe can.
    if (probe?.after !== this.answeredAt) this.send();
    // Judge after the answers that have arrived are read: if this process was busy, they are read late.
    else afterAnswers(() => this.judge(probe));
  }

  private judge(probe: Probe): void {
    if (probe !== this.probe || probe.after !== this.answeredAt) return;
    // A probe that waits for a connection says nothing about the database.
    const tells = probe.isSent || !(this.access.isExhausted?.() ?? false);
    this.silentSince = tells ? probe.after : undefined;
  }

  private send(): void {
    if (this.access.probe === undefined || this.unanswered === MAX_PROBES) return;
    const probe: Probe = { after: this.answeredAt, isSent: false };
    this.probe = probe;
    this.unanswered++;
    const end = () => {
      this.unanswered--;
      if (this.probe === probe) this.probe = undefined;
    };
    this.access
      .probe(() => (probe.isSent = true))
      .then(
        () => {
          end();
          this.answeredAt = performance.now();
        },
        // The connection of the probe was lost, which does not end the silence.
        end,
      );
  }
}
