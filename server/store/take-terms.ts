/** By what the rows of a plain take are charged. */
import { type Bucket, capacityOf, type PeriodicConfig } from "../../core/config.js";
import type { TakeLine, TakeTerms } from "./row-access.js";

/** Whether a statement can charge two rows by the same terms. Each row has its own `start`. */
export function isSameTerms(one: TakeTerms, other: TakeTerms): boolean {
  if (one.floor !== other.floor) return false;
  const [a, b] = [one.config, other.config];
  return (
    a === b ||
    (a.kind === b.kind &&
      a.rate === b.rate &&
      a.period === b.period &&
      a.windows === b.windows &&
      capacityOf(a) === capacityOf(b))
  );
}

/** The terms that all lines share, or `undefined` if they differ. */
export function sharedTerms<TConfig extends Bucket>([
  first,
  ...others
]: readonly TakeLine<TConfig>[]): TakeTerms<TConfig> | undefined {
  return others.every(({ terms }) => isSameTerms(terms, first!.terms)) ? first!.terms : undefined;
}

/** The kind of all lines, or `undefined` if they differ. */
export function sharedKind(
  lines: readonly TakeLine<PeriodicConfig>[],
): PeriodicConfig["kind"] | undefined {
  const { kind } = lines[0]!.terms.config;
  return lines.every(({ terms }) => terms.config.kind === kind) ? kind : undefined;
}

/** The terms of all lines, each once, and for each line the place of its own among them. */
export function distinctTerms<TConfig extends Bucket>(
  lines: readonly TakeLine<TConfig>[],
): {
  terms: TakeTerms<TConfig>[];
  places: number[];
} {
  const terms: TakeTerms<TConfig>[] = [];
  const places = lines.map((line) => {
    const place = terms.findIndex((each) => isSameTerms(each, line.terms));
    return place >= 0 ? place : terms.push(line.terms) - 1;
  });
  return { terms, places };
}
