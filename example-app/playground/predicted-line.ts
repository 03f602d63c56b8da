/** The line that the page predicts between the states of a bucket that it knows. */
import { calculateRateLimit, type ShownConfig } from "trpc-rate-limit";

export interface KnownState {
  value: number;
  ts: number;
  /** When the state was first true. For fixed windows, `ts` is the start of a window instead. */
  at: number;
  /** While a denial has closed the bucket: when the bucket opens. `ts` can lie as far ahead. */
  closedUntil?: number | undefined;
}

/** Instants and the tokens at each, to be joined by straight lines. */
export interface Line {
  at: number[];
  values: number[];
}

/** Predicts from each state until the next state is known. */
export function predictedLine(
  states: readonly KnownState[],
  config: ShownConfig,
  from: number,
  now: number,
): Line {
  const line: Line = { at: [], values: [] };
  let start = from;
  for (const [i, state] of states.entries()) {
    start = Math.max(start, state.at);
    const end = Math.max(start, Math.min(states[i + 1]?.at ?? now, now));
    for (const at of [start, ...bends(state, config, start, end), end]) {
      line.at.push(at);
      line.values.push(calculateRateLimit(state, config, at).value);
    }
  }
  return line;
}

/** The instants between two others at which the prediction bends: a full bucket, a new window. */
function bends(state: KnownState, config: ShownConfig, from: number, to: number): number[] {
  const { ts } = state;
  const { kind, rate, period, capacity = rate } = config;
  if (typeof period === "string") {
    // A calendar's windows are longer than the plot, so at most one of them starts on it.
    const { ts: start } = calculateRateLimit(state, config, to);
    return start > from && start < to ? [start - 0.001, start] : [];
  }
  const instants: number[] = [];
  if (kind === "token bucket") {
    instants.push(ts + (calculateRateLimit(state, config, ts, capacity).retryAfter ?? 0));
  } else {
    const passed = Math.floor((from - ts) / period);
    for (let start = ts + (passed + 1) * period; start < to; start += period) {
      // Just before a start, the tokens of that window are not there.
      instants.push(start - 0.001, start);
    }
  }
  return instants.filter((at) => at > from && at < to);
}
