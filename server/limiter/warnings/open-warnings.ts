/**
 * Tells listeners of warnings. The rows of the store say what is to be told, so a warning outlives the
 * process that has caused it.
 */
import { MINUTE, SECOND } from "../../../core/durations.js";
import { sideName } from "../../../core/rows/side-rows.js";
import { WARNINGS } from "../../../core/rows/warning.js";
import type { Warn } from "../../report/occasional-warning.js";
import type { WaitUntil } from "../../report/wait-until.js";
import { requestsOwnIo } from "../../runtime/requests-own-io.js";
import type { FoundRow } from "../../store/store.js";
import { startTimer, type Timer } from "../../timers/timer.js";
import type { Context } from "../context/context.js";
import type { Crossed } from "../claims/warnings.js";
import type { DecisionEvent } from "../types/limiter-options.js";
import type { WarningListener } from "../types/warnings.js";
import { deletion } from "../verbs/reset.js";
import { claimOf, warningOf } from "./stored-warning.js";

/** How long a process has for telling a warning, ms, before another process tells it again. */
const TELLING = MINUTE;
/** How often a process with listeners looks for warnings of other processes, ms. */
const LOOK_EVERY = 15 * SECOND;
/** How long a decision in a caller's own transaction is waited for, ms, before the next look. */
const COMMIT = SECOND;
/** Warnings of one look. While listeners are told of so many, no further look begins. */
const PAGE = 100;

export interface WarningParts {
  readonly context: Pick<Context, "apply" | "earliest">;
  /** The limits with `warnAt`. */
  readonly names: readonly string[];
  readonly clock: () => number;
  readonly random: () => number;
  readonly waitUntil?: WaitUntil | undefined;
  readonly warn: Warn;
  /** Tells the listeners of decisions. */
  tell(event: DecisionEvent): void;
}

export type OpenWarnings = ReturnType<typeof openWarnings>;

export function openWarnings(parts: WarningParts) {
  const { names, waitUntil, random } = parts;
  const listeners = new Set<WarningListener>();
  const tellers = new Map(names.map((name) => [name, new Teller(name, parts, listeners)]));
  const hasTimers = !requestsOwnIo();
  let next: Timer | undefined;

  async function look(of: Iterable<Teller | undefined>): Promise<void> {
    if (listeners.size === 0) return;
    const looks = [...of].flatMap((teller) => teller?.look() ?? []);
    const looking = Promise.all(looks).then(() => {});
    waitUntil?.(looking);
    return looking;
  }

  /** Counts the levels that this process has crossed, and looks for their warnings. */
  function crossed(levels: readonly Crossed[]): void {
    for (const { name, key, level, used, of } of levels) {
      const result = { ok: true, value: of - used, ts: parts.clock() } as const;
      parts.tell({ action: "warn", name, key, count: 1, result, level });
    }
    void look(new Set(levels.map(({ name }) => tellers.get(name))));
  }

  /** By a timer that does not keep the process alive. */
  function later(ms: number, run: () => unknown): Timer | undefined {
    if (!hasTimers) return undefined;
    const timer = startTimer(() => void run(), ms);
    timer.unref();
    return timer;
  }

  /** Looks now and then, as long as there are listeners. */
  function keepLooking(): void {
    next?.stop();
    if (listeners.size === 0) return;
    next = later(LOOK_EVERY * (0.5 + random() / 2), () => {
      // Not waited for: a listener may take long.
      void look(tellers.values());
      keepLooking();
    });
  }

  return {
    /** Levels were crossed, and no rollback can undo that. */
    crossed,
    /** Levels were crossed in a transaction that its owner may commit soon. */
    crossedInside(levels: readonly Crossed[]): void {
      later(COMMIT, () => crossed(levels));
    },
    /** Looks for warnings of all limits. */
    lookForAll: () => look(tellers.values()),
    listen(listener: WarningListener): () => void {
      // The same function may listen twice.
      const once: WarningListener = (warning) => listener(warning);
      listeners.add(once);
      void look(tellers.values());
      keepLooking();
      return () => {
        listeners.delete(once);
        if (listeners.size === 0) next?.stop();
      };
    },
  };
}

/**
 * Tells the warnings of one limit. No look waits for listeners, because one of them may never resolve.
 */
class Teller {
  /** The look that is under way, and whether another one is to follow. */
  #looking: Promise<void> | undefined;
  #again = false;
  /** The warnings that listeners are told now, and until when no other process tells them. */
  readonly #telling = new Map<Promise<void>, number>();
  /** Whether the last look has left warnings for when fewer are told. */
  #isFull = false;

  constructor(
    private readonly name: string,
    private readonly parts: WarningParts,
    private readonly listeners: ReadonlySet<WarningListener>,
  ) {}

  /** Never rejects. Resolves once the warnings were told that were there when it was called. */
  async look(): Promise<void> {
    if (this.#looking !== undefined) this.#again = true;
    this.#looking ??= this.#lookUntilDone().finally(() => (this.#looking = undefined));
    await this.#looking;
    await Promise.all(this.#telling.keys());
  }

  async #lookUntilDone(): Promise<void> {
    do {
      this.#again = false;
      try {
        while (await this.#lookOnce());
      } catch (error) {
        this.#report("looking for warnings", error);
      }
    } while (this.#again);
  }

  /** @returns whether there may be more warnings to tell. */
  async #lookOnce(): Promise<boolean> {
    const { context, clock } = this.parts;
    this.#isFull = this.#countTelling(clock()) >= PAGE;
    if (this.#isFull) return false;
    const found = await context.earliest(sideName(WARNINGS, this.name), "", PAGE);
    const now = clock();
    const due = found.filter(({ state }) => state.ts <= now);
    const claims = due.map((each) => claimOf(each, now + TELLING, clock));
    const claimed = claims.length === 0 ? [] : await context.apply(claims);
    const own = due.filter((_, i) => claimed[i]);
    for (const each of own) this.#begin(each, now + TELLING);
    return found.length === PAGE && own.length > 0;
  }

  /** Without those that take so long that they may be told again. */
  #countTelling(now: number): number {
    for (const [told, until] of this.#telling) if (until <= now) this.#telling.delete(told);
    return this.#telling.size;
  }

  #begin(found: FoundRow, until: number): void {
    const told = this.#tell(found).then(() => {
      this.#telling.delete(told);
      return this.#isFull ? this.look() : undefined;
    });
    this.#telling.set(told, until);
  }

  async #tell({ row, state }: FoundRow): Promise<void> {
    const warning = warningOf(row, state);
    if (warning === undefined) return;
    try {
      await Promise.all([...this.listeners].map(async (listener) => listener(warning)));
      await this.parts.context.apply([deletion([row])]);
    } catch (error) {
      this.#report("a listener of warnings", error);
    }
  }

  #report(work: string, error: unknown): void {
    const reason = error instanceof Error ? `: ${error.message}` : "";
    const subject = `${work} of "${this.name}" failed${reason}`;
    this.parts.warn(subject, `${subject}. Its warnings will be told again`);
  }
}
