/**
 * A bucket that one caller uses alone. Its state is known exactly, except for calls whose answer was
 * lost: these calls may have taken effect or not. Every answer must agree with a possible state.
 */
import { type Caller, isStoreFailure } from "./context.js";
import { type Change, type Effect, Possible } from "./possible.js";

/** The error by which an application rolls its transaction back. */
export const ROLLED_BACK = new Error("the application rolls back");

export interface Step<TState> {
  what: string;
  /** How long the call may take, ms. */
  most: number;
  run(): Promise<Effect<TState>>;
  /** The effects that the call may have although it has no answer. */
  lost: readonly Change<TState>[];
}

export class OwnBucket<TState> {
  key: string;
  possible: Possible<TState>;
  /** The last answer, for reports. */
  saw = "";
  #quiet: { end(): void } | undefined;

  /** @param full the state of a new bucket. */
  constructor(
    readonly caller: Caller,
    readonly full: TState,
  ) {
    this.key = this.#newKey();
    this.possible = this.#unused();
  }

  /** @returns whether the call had an answer. */
  async step({ what, most, run, lost }: Step<TState>): Promise<boolean> {
    const { caller, possible } = this;
    caller.tally.note(what);
    this.#quiet?.end();
    this.#quiet = undefined;
    const was = possible.states;
    try {
      const effect = await caller.timed(what, most, run);
      if (!possible.answered(effect)) {
        if (!caller.hasLost()) {
          const held = was.map((state) => JSON.stringify(state)).join(" or ");
          caller.report(`${what} on a bucket that held ${held}: ${this.saw}`);
        }
        this.begin();
      }
      return true;
    } catch (error) {
      if (error === ROLLED_BACK) return true;
      if (!isStoreFailure(error)) throw error;
      caller.failed(error, what);
      possible.lost(lost);
      this.#quiet = caller.quiet(this.key);
      return false;
    }
  }

  /** Changes to another bucket if too little is known of this one. */
  renew(): void {
    if (this.possible.uncertain > 3) this.begin();
  }

  /** Begins another bucket, whose state is known. */
  begin(): void {
    this.#quiet = undefined;
    this.key = this.#newKey();
    this.possible = this.#unused();
  }

  #newKey(): string {
    const { member, random } = this.caller;
    return `own ${member.id} ${random.below(2 ** 31)}`;
  }

  #unused(): Possible<TState> {
    return new Possible(this.full, () => this.caller.timeline.now);
  }
}
