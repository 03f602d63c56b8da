/** Compares the usage in the answers of programs with the usage that the limiters have counted. */
import { expect } from "vitest";
import { DAY } from "../../../core/durations.js";
import type { Usage } from "../../../core/usage.js";
import { type Call, KEY } from "./model.js";
import type { Opened } from "./open-pair.js";

interface Answered {
  ok: boolean;
  repeated?: boolean | undefined;
}

/** As `docs/usage.md` says it. */
export class CountedUsage {
  #used: Usage = { granted: 0, denied: 0, taken: 0, givenBack: 0 };

  answered({ ok, repeated }: Answered, { count }: Call): void {
    if (!ok) this.#used = { ...this.#used, denied: this.#used.denied + 1 };
    else if (!repeated) {
      const { granted, taken } = this.#used;
      this.#used = { ...this.#used, granted: granted + 1, taken: taken + count };
    }
  }

  /** @returns a function that undoes what comes after this call. */
  mark(): () => void {
    const before = this.#used;
    return () => void (this.#used = before);
  }

  /** @param ofHolds what their ends have counted. */
  with({ taken = 0, givenBack = 0 }: Partial<Usage> = {}): Usage {
    const { granted, denied, taken: before } = this.#used;
    return { granted, denied, taken: before + taken, givenBack };
  }
}

/** Both processes together have counted as much, whichever of them is asked. */
export async function sameUsage(
  limiters: readonly Pick<Opened, "flushUsage" | "usage">[],
  expected: Usage,
  [from, to]: readonly [from: number, to: number],
): Promise<void> {
  const days = { from: from - (from % DAY), to: to - (to % DAY) + DAY, every: DAY };
  for (const limiter of limiters) await limiter.flushUsage();
  for (const limiter of limiters) {
    const { total } = await limiter.usage("limit", { key: KEY, ...days });
    expect(total).toEqual(expected);
  }
}
