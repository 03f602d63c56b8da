/** The terms by which the rows of a plain take are charged. */
import {
  type Bucket,
  capacityOf,
  mostUsed,
  type PeriodicConfig,
  toleranceOf,
} from "../../core/config.js";
import type { TakeLine, TakeTerms } from "./row-access.js";
import type { PlainTake } from "./store.js";

/** Whether a statement can charge two rows by the same terms. Each row has its own `start`. */
export function isSameTerms(one: TakeTerms, other: TakeTerms): boolean {
  if (one.floor !== other.floor || one.own !== other.own) return false;
  if ((one.least ?? 0) !== (other.least ?? 0) || one.over !== other.over) return false;
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

/** Whether a full row has `total` tokens, and may be inserted after a take of them. */
export function fitsFull(
  { config, floor, least = 0, over, quiet = 0 }: TakeTerms & Pick<PlainTake<unknown>, "quiet">,
  total: number,
): boolean {
  return least + total <= mostUsed(config, floor) && (over === undefined || total <= quiet);
}

/** The most that a row of a config says as used, without a debt. */
export function ownOf(config: Bucket): number {
  return capacityOf(config) + toleranceOf(config);
}

/** The numbers of terms, as a statement calculates with them. */
export interface TermNumbers {
  rate: number;
  period: number;
  capacity: number;
  /** See {@link ownOf}. */
  own: number;
  /** The most that may be used after the take. */
  most: number;
  /** The least that counts as used before the take. */
  least: number;
  /** The least that must be used before the take, which begins no window. */
  over: number;
}

/** No bound for `over`: below every number that a statement calculates. */
export const ANY_USE = -1e300;

export function termNumbers({
  config,
  floor,
  least = 0,
  over = ANY_USE,
  own = ownOf(config),
}: TakeTerms<PeriodicConfig>): TermNumbers {
  const { rate, period } = config;
  const most = mostUsed(config, floor);
  return { rate, period, capacity: capacityOf(config), own, most, least, over };
}

/**
 * Whether takes by these terms owe nothing. Nearly all takes owe nothing, so statements have a shorter
 * text for them. The shorter text leaves a row that says more than `most`, or a debt, to `core`.
 */
export function owesNothing({ own, most, least, over }: TermNumbers): boolean {
  return most <= own && least === 0 && over === ANY_USE;
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

/** The distinct terms of all lines, and for each line the place of its terms in that list. */
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
