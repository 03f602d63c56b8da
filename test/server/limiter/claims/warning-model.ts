/**
 * What `warnAt` promises, in few lines: for one key, which levels a change of the use crosses. The model
 * knows what is used before and after each change, and nothing of rows.
 */
export interface Change {
  /** Parts of the capacity that are used, by the config of the call. */
  readonly before: number;
  readonly after: number;
  /** The window of the use; `undefined` for a token bucket. */
  readonly window: number | undefined;
}

/** Sums of doubles are not exact. */
const ERROR = 1e-7;

export class WarningModel {
  /** The levels that were crossed, and in which window. */
  readonly #crossed = new Map<number, number | undefined>();

  constructor(private readonly levels: readonly number[]) {}

  /** @returns the levels that the change crosses, rising. */
  crossedBy({ before, after, window }: Change): number[] {
    this.#forget(before, window);
    if (after <= before + ERROR) return [];
    const reached = this.levels.filter((level) => after >= level - ERROR);
    const found = reached.filter((level) => !this.#crossed.has(level));
    for (const level of found) this.#crossed.set(level, window);
    return found;
  }

  #forget(used: number, window: number | undefined): void {
    for (const [level, inWindow] of this.#crossed) {
      const isOver = window === undefined ? used < level / 2 - ERROR : inWindow !== window;
      if (isOver) this.#crossed.delete(level);
    }
  }
}
