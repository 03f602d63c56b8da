/**
 * What a bucket may hold that one caller uses alone. A call without an answer may have taken effect,
 * may still do so while its statement is on its way, or never does.
 */

/** What a call does to a bucket that holds `value`. */
export type Change = (value: number) => number;
/** The same; `undefined`: it cannot have had this answer. */
export type Effect = (value: number) => number | undefined;

/** For how long a statement without an answer may still be carried out, ms. */
const MAY_COME_FOR = 60_000;

interface Late {
  until: number;
  change: Change;
}

interface State {
  value: number;
  /** Changes that may still happen. */
  late: readonly Late[];
}

export class Possible {
  #states: State[];
  readonly #now: () => number;

  constructor(value: number, now: () => number) {
    this.#states = [{ value, late: [] }];
    this.#now = now;
  }

  /** How many changes may still happen. */
  get uncertain(): number {
    return Math.max(0, ...this.#states.map(({ late }) => late.length));
  }

  get values(): number[] {
    return [...new Set(this.#states.map(({ value }) => value))];
  }

  /** A call has had an answer. @returns false if nothing possible explains it. */
  answered(effect: Effect): boolean {
    const before = this.#withLate();
    const after: State[] = [];
    for (const { value, late } of before) {
      const next = effect(value);
      if (next !== undefined) after.push({ value: next, late });
    }
    if (after.length > 0) this.#states = distinct(after);
    return after.length > 0;
  }

  /** A call has had no answer. */
  lost(changes: readonly Change[]): void {
    const until = this.#now() + MAY_COME_FOR;
    for (const change of changes) {
      this.#states = this.#states.map(({ value, late }) => ({
        value,
        late: [...late, { until, change }],
      }));
    }
  }

  /** With each of the late changes, or without it. */
  #withLate(): State[] {
    const now = this.#now();
    let states: State[] = this.#states.map(({ value, late }) => ({
      value,
      late: late.filter(({ until }) => until > now),
    }));
    // Those that have run out have happened before, or never do.
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
function apply({ value, late }: State, is: (late: Late) => boolean): State[] {
  return late
    .filter(is)
    .map((one) => ({ value: one.change(value), late: late.filter((each) => each !== one) }));
}

function distinct(states: readonly State[]): State[] {
  const found: State[] = [];
  for (const state of states) {
    const isKnown = found.some(
      ({ value, late }) =>
        value === state.value &&
        late.length === state.late.length &&
        late.every((each) => state.late.includes(each)),
    );
    if (!isKnown) found.push(state);
  }
  return found;
}
