/**
 * A model of the contract of holds, for the bucket of one key: its tokens, its ids, and what is held. The
 * model computes by `core` alone, and stores nothing but the bucket.
 */
import { heldAt } from "../../../../core/rows/reading.js";
import { chargeRows } from "../../../../core/charge.js";
import type { Bucket } from "../../../../core/config.js";
import { decideRateLimit } from "../../../../core/decide.js";
import { refundTaken, type TakenTokens } from "../../../../core/refund.js";
import type { Row } from "../../../../core/rows/row.js";

export interface Terms {
  for: number;
  then: "keep" | "release";
}

export type Ended = { ok: true; count: number; value: number } | { ok: false; reason: string };

interface Held extends Terms {
  taken: TakenTokens;
  until: number;
  /** How many holds its call has made, and whether they are shares of one count. */
  made: number;
  isShare: boolean;
}

export class HoldsModel {
  row: Row | null = null;
  holds = new Map<string, Held>();
  /** When each id was charged, and how its hold has ended. */
  ids = new Map<string, { at: number; end?: string }>();
  /** What each call got, and how much of it was used in the end. */
  takings: { at: number; used: number; hold?: Held }[] = [];

  constructor(
    public config: Bucket,
    private readonly onceFor: number,
  ) {}

  value(now: number): number {
    return heldAt(this.row, this.config, now).value;
  }

  take(now: number, count: number, reserve: boolean = false) {
    const { result, next } = decideRateLimit(this.row, this.config, now, count, reserve);
    if (count > 0) this.row = next ?? this.row;
    if (result.ok) this.takings.push({ at: now, used: count });
    return result;
  }

  charge(now: number, count: number): void {
    if (count > 0) this.row = chargeRows([this.row], this.config, now, count).next[0]!;
  }

  /** Whether a call with the id takes nothing. A hold of the id that has lapsed ends before. */
  isCharged(id: string, now: number): boolean {
    if (now >= (this.holds.get(id)?.until ?? Infinity)) this.end(id, now, 0);
    const known = this.ids.get(id);
    const isBack = known?.end === "released" || known?.end === "given back";
    return known !== undefined && !isBack && now < known.at + this.onceFor;
  }

  /** The last tokens were taken for an id. Two items of one call are held together. */
  note(id: string, now: number, count: number, terms?: Terms): void {
    this.ids.set(id, { at: now });
    if (terms === undefined) return;
    const first = this.holds.get(id);
    const total = count + (first?.taken.count ?? 0);
    const alone = { made: 1, isShare: false };
    const taken = { ...this.row!, count: total };
    const hold: Held = { ...terms, ...alone, taken, until: now + terms.for };
    this.holds.set(id, hold);
    this.takings.pop();
    if (first !== undefined) this.takings.pop();
    this.takings.push({ at: now, used: total, hold });
  }

  /** Whether an id was charged, and is not forgotten. */
  isKnown(id: string, now: number): boolean {
    if (this.holds.has(id)) return true;
    const known = this.ids.get(id);
    return known !== undefined && now < known.at + this.onceFor;
  }

  /** @param used of the tokens held, or more. A hold that has lapsed ends by its terms. */
  end(id: string, now: number, used: number): Ended {
    const hold = this.holds.get(id);
    const known = this.ids.get(id);
    if (hold === undefined) {
      const isKnown = known !== undefined && now < known.at + this.onceFor;
      return { ok: false, reason: (isKnown && known.end) || "unknown" };
    }
    const { taken, then } = hold;
    const hasLapsed = now >= hold.until;
    const stays = !hasLapsed ? used : then === "keep" ? taken.count : 0;
    if (stays > taken.count) this.charge(now, stays - taken.count);
    const rest = Math.max(0, taken.count - stays);
    // A hold that has lapsed gives back what it would have given back then.
    const at = hasLapsed ? Math.min(now, Math.max(hold.until, this.row?.ts ?? 0)) : now;
    this.row = refundTaken([this.row], this.config, at, rest, [taken]).next[0] ?? this.row;
    this.holds.delete(id);
    this.takings = this.takings.map((each) =>
      each.hold === hold ? { at: each.at, used: taken.count - rest } : each,
    );
    const lapse = then === "keep" ? "kept" : "given back";
    known!.end = hasLapsed ? lapse : used === 0 ? "released" : "settled";
    if (hasLapsed) return { ok: false, reason: lapse };
    return { ok: true, count: taken.count, value: this.value(now) };
  }

  /** Before a call is denied, before it is shown, and by `prune`: lapsed holds end, the oldest first. */
  reclaim(now: number): void {
    const lapsed = [...this.holds].filter(([, { until }]) => now >= until);
    const inOrder = lapsed.toSorted(([one, a], [other, b]) => {
      return a.until - b.until || (one < other ? -1 : 1);
    });
    for (const [id] of inOrder) this.end(id, now, 0);
  }
}

/** Notes of the holds that a call has made under an id how many they are. */
export function together(models: Iterable<HoldsModel>, id: string, isShare: boolean): void {
  const holds = [...new Set(models)].flatMap((model) => model.holds.get(id) ?? []);
  for (const hold of holds) Object.assign(hold, { made: holds.length, isShare });
}

export function copyOf(model: HoldsModel): HoldsModel {
  return Object.assign(Object.create(HoldsModel.prototype) as HoldsModel, model, {
    holds: new Map(model.holds),
    ids: new Map([...model.ids].map(([id, known]) => [id, { ...known }])),
    takings: [...model.takings],
  });
}

/**
 * Decides on several buckets at once. If it is denied, it is decided again without what has lapsed: in
 * the buckets that deny it, first the hold of its own id, and then the oldest. It waits until it passes
 * if all others leave the buckets alone, also by what lapses meanwhile.
 *
 * @param attempt changes the models.
 */
export function decide<
  TAnswer extends { ok: boolean; retryAfter?: number; results?: readonly { ok: boolean }[] },
>(
  models: readonly HoldsModel[],
  now: number,
  id: string | undefined,
  attempt: (at: number) => TAnswer,
): TAnswer {
  const before = models.map(copyOf);
  const goBack = () => models.forEach((model, i) => Object.assign(model, copyOf(before[i]!)));
  const answer = attempt(now);
  if (answer.ok) return answer;
  goBack();
  for (const model of new Set(models)) {
    const isDenied = answer.results?.[models.indexOf(model)]?.ok !== true;
    if (id !== undefined && isDenied) model.isCharged(id, now);
    model.reclaim(now);
  }
  models.forEach((model, i) => (before[i] = copyOf(model)));
  const again = attempt(now);
  if (again.ok) return again;
  goBack();
  const lapses = new Set(
    models.flatMap(({ holds }) => [...holds.values()].map((hold) => hold.until)),
  );
  let wait = again.retryAfter!;
  for (const at of [...lapses].toSorted((a, b) => a - b)) {
    if (at >= now + wait) break;
    for (const model of new Set(models)) model.reclaim(at);
    const kept = models.map(copyOf);
    const later = attempt(at);
    models.forEach((model, i) => Object.assign(model, copyOf(kept[i]!)));
    wait = Math.min(wait, Math.ceil(at - now + (later.ok ? 0 : later.retryAfter!)));
  }
  goBack();
  return again.retryAfter === undefined ? again : { ...again, retryAfter: wait };
}
