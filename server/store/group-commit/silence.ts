/**
 * Tells a database that is silent from one that is busy. A batch may have no answer for long because
 * a transaction holds its row. So a probe is sent, a statement that waits for no row. Silence is a
 * probe without an answer.
 */
import type { RowAccess } from "../row-access.js";

/** The most probes without an answer. Each of them keeps a connection. */
const MAX_PROBES = 2;

interface Probe {
  /** Whether it has a connection, as far as the driver tells. */
  isSent: boolean;
}

export class Silence {
  private isSilent = false;
  /** By the monotonic clock. */
  private answeredAt = -Infinity;
  /** The last probe, until the database answers anything. */
  private probe: Probe | undefined;
  private unanswered = 0;

  constructor(private readonly access: Pick<RowAccess, "probe" | "isExhausted">) {}

  /** The database has answered, a batch or a probe. */
  answered(now: number): void {
    this.answeredAt = now;
    this.isSilent = false;
    this.probe = undefined;
  }

  isSilentSince(since: number): boolean {
    return this.isSilent && this.answeredAt <= since;
  }

  /** Called now and then while something has no answer. */
  look(): void {
    const { probe } = this;
    if (probe === undefined) this.send();
    // After the answers that have arrived are read. If this process was busy, they come late.
    else afterReading(() => this.judge(probe));
  }

  private judge(probe: Probe): void {
    if (probe !== this.probe) return;
    // A probe that waits for a connection says nothing about the database.
    this.isSilent = probe.isSent || !(this.access.isExhausted?.() ?? false);
  }

  private send(): void {
    if (this.access.probe === undefined || this.unanswered === MAX_PROBES) return;
    const probe: Probe = { isSent: false };
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
          this.answered(performance.now());
        },
        // A connection that was lost. It does not end the silence.
        end,
      );
  }
}

/** Runs after the phase in which Node.js reads from connections. */
const afterReading: (run: () => void) => unknown = globalThis.setImmediate ?? queueMicrotask;
