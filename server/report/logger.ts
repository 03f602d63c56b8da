/** Reports what no caller is told. */
import { MINUTE } from "../../core/durations.js";
import { stateAt } from "../../core/calculate.js";
import type { TokenBucketConfig } from "../../core/limit-config.js";
import { notify } from "./notify.js";

/** Receives the messages of the package. `console` is such a logger. */
export interface RateLimitLogger {
  /**
   * Receives an error.
   *
   * @param cause usually the error that was the cause.
   */
  error(message: string, cause?: unknown): void;
  /** Receives a warning: something works less well than it could. */
  warn(message: string, cause?: unknown): void;
}

export type LoggerOption = RateLimitLogger | false | undefined;

/** @param option `false` for no messages. @default console */
export function loggerOf(option: LoggerOption): RateLimitLogger {
  if (option === false) return { error() {}, warn() {} };
  // The methods are looked up at each message, because an application or a test may replace the console's
  // methods.
  const to = option ?? console;
  return {
    error: (...message) => notify(() => to.error(...message)),
    warn: (...message) => notify(() => to.warn(...message)),
  };
}

/** Reports the first error of a pool to which the application does not listen. */
export function poolErrorReport(logger: RateLimitLogger): (error: unknown) => void {
  let isReported = false;
  return (error) => {
    if (isReported) return;
    isReported = true;
    logger.warn(
      `trpc-rate-limit: the pool of the rate limit store reports: ${messageOf(error)}. No call ` +
        'receives this error. Add pool.on("error", …) to the pool: without the store, it would ' +
        "end the process. This is reported once.",
      error,
    );
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Bounds the number of messages about a store that fails and recovers again and again. */
const MESSAGES: TokenBucketConfig = { kind: "token bucket", rate: 5, period: MINUTE };

/** Reports the first failure of each outage. An outage ends with the next success. */
export class OutageLog {
  /** Read before each call of `end`, so that a success costs no call. */
  isOngoing = false;
  private messages = { value: MESSAGES.rate, ts: 0 };

  constructor(
    private readonly logger: RateLimitLogger,
    /** Monotonic, ms. */
    private readonly clock: () => number = () => performance.now(),
  ) {}

  failed(error: unknown): void {
    // A `RateLimitInputError` is the caller's mistake, and not the store's.
    if ((error as { name?: unknown } | undefined)?.name === "RateLimitInputError") return;
    if (this.isOngoing) return;
    this.isOngoing = true;
    const { value, ts } = stateAt(this.messages, MESSAGES, this.clock());
    if (value < 1) return;
    this.messages = { value: value - 1, ts };
    this.logger.error(
      `trpc-rate-limit: rate limits cannot be checked: ${messageOf(error)}. This is reported once, until a ` +
        "call succeeds.",
      error,
    );
  }

  end(): void {
    this.isOngoing = false;
  }
}
