/**
 * The plans that the limiter's `plan` function says. An answer counts for `planFor`, or until
 * `planChanged` is called in this process or, by the channel, in another process. Calls that ask at the
 * same time share one answer. Where the function fails, the last answer still counts.
 */
import { describe, RateLimitConfigError, RateLimitStoreError } from "../../../../core/errors.js";
import type { ChangeChannel } from "../../../changes/change-channel.js";
import { ListenWhileUsed } from "../../../changes/listen-while-used.js";
import { planDigest } from "../../../changes/plan-digest.js";
import type { Warn } from "../../../report/occasional-warning.js";
import { requestsOwnIo } from "../../../runtime/requests-own-io.js";
import { startTimer, type Timer } from "../../../timers/timer.js";
import type { PlanTable } from "./plan-table.js";
import type { PlanResolver } from "../../types/plan-types.js";

/** The most keys whose plans are kept; some 500 bytes each. */
const MAX_KEYS = 20_000;

interface Answer {
  readonly plan: string;
  /** When the function was asked, by the monotonic clock, ms. */
  readonly since: number;
}

/** The answers and the open questions for one key, by the name of a limit. */
interface KeyPlans {
  readonly digest: string;
  readonly answers: Map<string, Answer>;
  readonly asking: Map<string, Promise<string>>;
  /** How often the plan of the key has changed, as far as this process was told. */
  changes: number;
}

export interface AskedPlansOptions {
  resolver: PlanResolver;
  plans: PlanTable;
  /** How long an answer counts, ms. */
  planFor: number;
  /** How long a call waits for an answer, ms. */
  timeout: number;
  channel: Pick<ChangeChannel, "subscribe"> | undefined;
  warn: Warn;
}

export class AskedPlans {
  private readonly byKey = new Map<string | undefined, KeyPlans>();
  private readonly byDigest = new Map<string, KeyPlans>();
  private readonly listening: ListenWhileUsed;

  constructor(private readonly options: AskedPlansOptions) {
    this.listening = new ListenWhileUsed({
      channel: options.channel,
      heard: (digest) => this.changed(digest),
      ended: () => this.forgetAll(),
    });
  }

  /** The plan of a key, at once where it is known. */
  of(name: string, key: string | undefined): string | Promise<string> {
    this.listening.used();
    const ofKey = this.byKey.get(key) ?? this.add(key);
    const before = ofKey.answers.get(name);
    if (before !== undefined && monotonic() < before.since + this.options.planFor)
      return before.plan;
    const open = ofKey.asking.get(name);
    // Where requests own their I/O, no request can wait for the question of another request.
    if (open !== undefined && !requestsOwnIo()) return open;
    this.listening.listen();
    const asked = this.ask(ofKey, name, key, before).finally(() => {
      if (ofKey.asking.get(name) === asked) ofKey.asking.delete(name);
    });
    ofKey.asking.set(name, asked);
    return asked;
  }

  /** The last answer for a key; `undefined` if there is none. */
  seen(name: string, key: string | undefined): string | undefined {
    return this.byKey.get(key)?.answers.get(name)?.plan;
  }

  /** The plan of a key may be another one from now on. */
  changed(digest: string): void {
    const ofKey = this.byDigest.get(digest);
    if (ofKey === undefined) return;
    ofKey.changes++;
    // The function may have read the answer to an open question before the change.
    ofKey.asking.clear();
    for (const [name, { plan }] of ofKey.answers) {
      ofKey.answers.set(name, { plan, since: -Infinity });
    }
  }

  private add(key: string | undefined): KeyPlans {
    if (this.byKey.size >= MAX_KEYS) this.forgetAll();
    const digest = planDigest(key);
    const ofKey = { digest, answers: new Map(), asking: new Map(), changes: 0 };
    this.byKey.set(key, ofKey);
    this.byDigest.set(digest, ofKey);
    return ofKey;
  }

  private forgetAll(): void {
    this.byKey.clear();
    this.byDigest.clear();
  }

  private async ask(
    ofKey: KeyPlans,
    name: string,
    key: string | undefined,
    before: Answer | undefined,
  ): Promise<string> {
    const since = monotonic();
    const { changes } = ofKey;
    const { resolver, plans, warn } = this.options;
    let plan: string;
    try {
      plan = await this.bounded(async () => resolver({ key, name }), name);
    } catch (error) {
      if (before === undefined) throw error;
      const message = `the plan function failed, so what it said before counts: ${String(error)}`;
      warn(`plan ${name}`, message);
      return before.plan;
    }
    if (!plans.names.includes(plan)) throw this.unknown(name, plan);
    const isNew = changes === ofKey.changes;
    ofKey.answers.set(name, { plan, since: isNew ? since : -Infinity });
    return plan;
  }

  /** @throws RateLimitStoreError for an answer that does not come in time. */
  private async bounded<TResult>(work: () => Promise<TResult>, name: string): Promise<TResult> {
    const { timeout } = this.options;
    let timer: Timer | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = startTimer(() => {
        const message = `the plan function did not answer for "${name}" within ${timeout} ms`;
        reject(new RateLimitStoreError(message, { isOutage: false }));
      }, timeout);
    });
    try {
      return await Promise.race([work(), late]);
    } finally {
      timer?.stop();
    }
  }

  private unknown(name: string, plan: unknown): RateLimitConfigError {
    const known = this.options.plans.names.map(describe).join(", ");
    const message = `the plan function returned ${describe(plan)} for "${name}"; return one of ${known}`;
    return new RateLimitConfigError("plan", plan, { message });
  }
}

/** ms. Not the limiter's clock: a clock that is set must not prolong an answer. */
function monotonic(): number {
  return performance.now();
}
