/** The last minute of each limit: what the page predicted, and what the server's answer says. */
import { calculateRateLimit } from "../../core/calculate.js";
import { MINUTE, SECOND } from "../../core/durations.js";
import { idOf } from "../limit-entry.js";
import type { InspectedLimit, RateLimitObserver } from "../types.js";
import { boundOf } from "./describe-config.js";

/** How far back a line goes, ms. */
export const SPAN = MINUTE;
/** Nothing is drawn between two samples that are further apart, ms: the panel was closed. */
const GAP = 5 * SECOND;

interface Sample {
  /** Epoch ms on this machine's clock. */
  at: number;
  /** With the calls in flight. */
  predicted: number;
  /** Without these calls: the last snapshot of the server, refilled. `undefined` during a pretence. */
  answered: number | undefined;
}

type Line = "predicted" | "answered";

/** Two lines in a box of 100 by 24, each as the `d` of a path. */
export interface Lines {
  predicted: string;
  answered: string;
  /** The two lines in words. */
  label: string;
}

export class History {
  readonly #samples = new Map<string, Sample[]>();

  /**
   * Looks at one limit of an observer.
   *
   * @param isPretended whether its snapshot is a pretence, and not the server's.
   */
  sample(
    observer: RateLimitObserver,
    { item, snapshot }: InspectedLimit,
    now: number,
    isPretended: boolean = false,
  ): void {
    const checked = observer.check(item, now, 0);
    if (!checked || !snapshot) return;
    const answered = isPretended
      ? undefined
      : calculateRateLimit(snapshot, snapshot.config, checked.now).value;
    const id = idOf(item);
    const samples = this.#samples.get(id) ?? [];
    this.#samples.set(id, samples);
    // The same ms may be looked at twice, and the clock may have been put back.
    while (samples.length > 0 && samples.at(-1)!.at >= now) samples.pop();
    samples.push({ at: now, predicted: checked.value, answered });
    while (samples[0]!.at < now - SPAN) samples.shift();
  }

  /** @returns `undefined` while there are too few samples for a line. */
  lines({ item, snapshot }: InspectedLimit, now: number): Lines | undefined {
    // Once a second, so that the lines do not creep, and the panel renders less.
    const end = Math.floor(now / SECOND) * SECOND;
    const samples = (this.#samples.get(idOf(item)) ?? []).filter(({ at }) => at <= end);
    if (!snapshot || samples.length < 2) return undefined;
    const values = [...valuesOf(samples, "predicted"), ...valuesOf(samples, "answered")];
    const [low, high] = [
      Math.min(0, ...values),
      Math.max(...values, boundOf(snapshot.config) ?? 1),
    ];
    const x = (at: number) => round(100 - (100 * (end - at)) / SPAN);
    const y = (value: number) => round(23 - (22 * (value - low)) / (high - low || 1));
    const path = (line: Line) =>
      samples
        .map((sample, i) => {
          const value = sample[line];
          if (value === undefined) return "";
          const before = samples[i - 1];
          const isStart = before?.[line] === undefined || sample.at - before.at > GAP;
          return `${isStart ? "M" : "L"}${x(sample.at)} ${y(value)}`;
        })
        .join("");
    return { predicted: path("predicted"), answered: path("answered"), label: labelOf(samples) };
  }
}

function valuesOf(samples: readonly Sample[], line: Line): number[] {
  return samples.flatMap((sample) => sample[line] ?? []);
}

function labelOf(samples: readonly Sample[]): string {
  const range = (line: Line) => {
    const values = valuesOf(samples, line).map((value) => Math.floor(value + 1e-6));
    if (values.length === 0) return "nothing";
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return low === high ? `${low}` : `${low} to ${high}`;
  };
  return `Last minute: predicted ${range("predicted")}, answered ${range("answered")}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
