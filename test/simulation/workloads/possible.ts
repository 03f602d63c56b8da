/**
 * The possible states of a bucket that one caller uses alone. A call without an answer may have taken
 * effect, may still take effect while its statement is on its way, or may never do so.
 */

/** The change that a call makes to a bucket. */
export type Change<TState = number> = (held: TState) => TState;
/** As `Change`. `undefined`: a call on this state cannot have had this answer. */
export type Effect<TState = number> = (held: TState) => TState | undefined;

/** How long a statement without an answer may still be carried out, ms. */
const MAY_COME_FOR = 60_000;

interface Late<TState> {
  until: number;
  change: Change<TState>;
}

interface State<TState> {
  value: TState;
  /** Changes that may still happen. */
  late: readonly Late<TState>[];
}

/** The state of a bucket is a number, or a plain object. */
export class Possible<TState> {
  #states: State<TState>[];
  readonly #now: () => number;

  constructor(value: TState, now: () => number) {
    this.#states = [{ value, late: [] }];
    this.#now = now;
  }

  /** How many changes may still happen. */
  get uncertain(): number {
    return Math.max(0, ...this.#states.map(({ late }) => late.length));
  }

  get states(): TState[] {
    return this.#states.map(({ value }) => value);
  }

  /** A call has had an answer. @returns false if nothing possible explains it. */
  answered(effect: Effect<TState>): boolean {
    const before = this.#withLate();
    const after: State<TState>[] = [];
    for (const { value, late } of before) {
      const next = effect(value);
      if (next !== undefined) after.push({ value: next, late });
    }
    if (after.length > 0) this.#states = distinct(after);
    return after.length > 0;
  }

  /** A call has had no answer. */
  lost(changes: readonly Change<TState>[]): void {
    const until = this.#now() + MAY_COME_FOR;
    for (const change of changes) {
      this.#states = this.#states.map(({ value, late }) => ({
        value,
        late: [...late, { until, change }],
      }));
    }
  }

  /** All states with or without each of the late changes. */
  #withLate(): State<TState>[] {
    const now = this.#now();
    let states: State<TState>[] = this.#states.map(({ value, late }) => ({
      value,
      late: late.filter(({ until }) => until > now),
    }));
    // Late changes that have expired have happened before, or never will.
    const expired = this.#states.flatMap(({ value, late }) =>
      apply({ value, late }, ({ until }) => until <= now),
    );
    states = distinct([...states, ...expired]);
    for (let i = 0; i < states.length; i++) {
      const more = apply(states[i]!, () => true);
      states = distinct([...states, ...more]);
    }
    return states;
  }
}

/** The states after one of the late changes that `is` accepts. */
function apply<TState>(
  { value, late }: State<TState>,
  is: (late: Late<TState>) => boolean,
): State<TState>[] {
  return late
    .filter(is)
    .map((one) => ({ value: one.change(value), late: late.filter((each) => each !== one) }));
}

function distinct<TState>(states: readonly State<TState>[]): State<TState>[] {
  const found: State<TState>[] = [];
  for (const state of states) {
    const isKnown = found.some(
      ({ value, late }) =>
        isSame(value, state.value) &&
        late.length === state.late.length &&
        late.every((each) => state.late.includes(each)),
    );
    if (!isKnown) found.push(state);
  }
  return found;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && JSON.stringify(a) === JSON.stringify(b));
}
