/**
 * Many callers at once, as in a flood, so batches are large. The bucket must have lost exactly what was
 * granted.
 */
import { type Caller, isStoreFailure, type Workload } from "./context.js";

/** The tokens that the calls on one bucket have taken. */
export interface Taken {
  granted: number;
  /** Tokens of calls without an answer, also of a killed process. These tokens may be taken or not. */
  uncertain: number;
}

const KEYS = 3;
/** Keeps a seed short. */
const MOST_CALLS = 300;

export function createCrowd(takenByKey: Map<string, Taken>): Workload {
  return async (caller: Caller) => {
    const { member, random } = caller;
    for (let i = 0; i < MOST_CALLS && caller.isOn(); i++) {
      const key = `crowd ${random.below(KEYS)}`;
      const taken = takenByKey.get(key) ?? { granted: 0, uncertain: 0 };
      takenByKey.set(key, taken);
      const count = random.between(1, 3);
      caller.tally.note("crowd");
      taken.uncertain += count;
      try {
        const { ok } = await member.frozen.limit("crowd", { key, count });
        taken.uncertain -= count;
        if (ok) taken.granted += count;
        else await member.sleep(100);
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
        caller.failed(error, "crowd");
      }
    }
  };
}

/** @param used what the bucket has lost at the end. */
export function explains({ granted, uncertain }: Taken, used: number): boolean {
  return used >= granted && used <= granted + uncertain;
}
