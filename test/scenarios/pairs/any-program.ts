/** Random programs that use two features of a limit. */
import fc from "fast-check";
import { DAY, MINUTE, SECOND } from "../../../core/durations.js";
import type { Feature, Pair } from "./features.js";
import type { Call } from "./model.js";

const ACTS: Partial<Record<Feature, readonly string[]>> = {
  override: ["override"],
  slot: ["enter", "enter", "release"],
  credits: ["credit"],
  "fail-open": ["outage"],
  transaction: ["transaction"],
  using: ["using"],
  hold: ["hold", "hold", "end", "end"],
};

export interface Step {
  /** Ms since the step before. */
  after: number;
  act: string;
  call: Call;
  /** Chooses among what there is, and how often. */
  which: number;
  fails: boolean;
}

export interface Program {
  variant: number;
  steps: Step[];
}

const hasIds = (pair: Pair) => pair.includes("id") || pair.includes("hold");

export function anyProgram(pair: Pair): fc.Arbitrary<Program> {
  const acts = [
    "limit",
    "limit",
    "limit",
    "check",
    "value",
    ...pair.flatMap((each) => ACTS[each] ?? []),
  ];
  // Blocks of a lease are for many calls.
  const unit = pair.includes("lease") ? 900 : 1;
  const step = fc.record({
    after: fc.constantFrom(0, 0, 0, 1, SECOND, 20 * SECOND, 2 * MINUTE, 20 * MINUTE, DAY),
    act: fc.constantFrom(...acts),
    call: fc.record({
      by: fc.constantFrom(0, 1),
      count: fc.constantFrom(1, 1, 2, 2.5).map((count) => count * unit),
      id: hasIds(pair) ? fc.constantFrom(undefined, "x", "y") : fc.constant(undefined),
    }),
    which: fc.nat(20),
    fails: fc.boolean(),
  });
  return fc.record({ variant: fc.nat(1), steps: fc.array(step, { minLength: 10, maxLength: 40 }) });
}
