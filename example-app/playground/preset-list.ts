/** Limits worth a try, each with what to try. */
import { MINUTE, SECOND } from "trpc-rate-limit";
import { type CallInput, PLAIN_CALL } from "./address.js";
import { isSameChoice, type PlaygroundChoice } from "./choice.js";

export interface Preset {
  name: string;
  /** One sentence: what to do, and what happens then. */
  advice: string;
  choice: PlaygroundChoice;
  call: CallInput;
}

const BURST: PlaygroundChoice = {
  kind: "token bucket",
  rate: 30,
  period: MINUTE,
  capacity: 10,
  shards: 1,
};

export const PRESETS: readonly Preset[] = [
  {
    name: "Burst",
    advice: "Hold Call: the full bucket passes at once, and then one call every two seconds.",
    choice: BURST,
    call: PLAIN_CALL,
  },
  {
    name: "Window",
    advice: "Call until one is denied: the next window brings all five tokens at once.",
    choice: { ...BURST, kind: "fixed window", rate: 5, period: 10 * SECOND, capacity: 5 },
    call: PLAIN_CALL,
  },
  {
    name: "Reserve",
    advice: "Call until one is denied: calls take tokens that are still to come, four at most.",
    choice: { ...BURST, capacity: 4 },
    call: { count: 3, reserve: true },
  },
  {
    name: "Lock-out",
    advice: "Call until one is denied: that closes the bucket for ten seconds.",
    choice: { ...BURST, rate: 6, capacity: 3, blockFor: 10 * SECOND },
    call: PLAIN_CALL,
  },
  {
    name: "Month",
    advice: "Call a few times: tokens go and none come now, for all 100 come with the next month.",
    choice: { ...BURST, kind: "fixed window", rate: 100, period: "month", capacity: 100 },
    call: PLAIN_CALL,
  },
];

/** @returns `undefined` for numbers of the visitor's own. */
export function presetOf(choice: PlaygroundChoice, call: CallInput): Preset | undefined {
  return PRESETS.find(
    (preset) =>
      isSameChoice(preset.choice, choice) &&
      preset.call.count === call.count &&
      preset.call.reserve === call.reserve,
  );
}
