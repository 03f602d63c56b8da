/** The holds of the model, on its row: the contract of holds, as the two processes see it. */
import type { RateLimitResult } from "../../../core/decide.js";
import { bucketConfig } from "../../../core/rows/credits.js";
import type { Usage } from "../../../core/usage.js";
import { rowKey } from "../../../server/store/store.js";
import { copyOf, decide, type Ended, HoldsModel } from "../../server/limiter/holds/holds-model.js";
import { ONCE_FOR, type Tokens } from "./features.js";
import type { Call, Model } from "./model.js";

/** Also adds up what came back, and what was charged beyond an estimate. */
class CountedHolds extends HoldsModel {
  used = { taken: 0, givenBack: 0 };

  override end(id: string, now: number, used: number): Ended {
    const hold = this.holds.get(id);
    const ended = super.end(id, now, used);
    if (hold === undefined) return ended;
    const { count } = hold.taken;
    const lapsed = hold.then === "keep" ? count : 0;
    const more = (ended.ok ? used : lapsed) - count;
    const { taken, givenBack } = this.used;
    this.used = { taken: taken + Math.max(0, more), givenBack: givenBack + Math.max(0, -more) };
    return ended;
  }
}

export class HeldTokens {
  readonly #holds: CountedHolds;

  constructor(
    private readonly model: Pick<Model, "rows" | "resolved">,
    config: Tokens,
  ) {
    this.#holds = new CountedHolds(bucketConfig(config), ONCE_FOR);
  }

  /** @returns a function that undoes what comes after this call. */
  mark(): () => void {
    const before = copyOf(this.#holds);
    return () => void Object.assign(this.#holds, copyOf(before));
  }

  limit({ by, count, id, hold }: Call, now: number): RateLimitResult {
    return this.#onRow(by, (holds) =>
      decide([holds], now, id, (at) => {
        if (id !== undefined && holds.isCharged(id, at)) return repeatedAt(at);
        const result = holds.take(at, count);
        if (result.ok && id !== undefined) holds.note(id, at, count, hold);
        return result;
      }),
    );
  }

  check(by: number, count: number, now: number): RateLimitResult {
    return this.#onRow(by, (holds) =>
      // It takes nothing. Before it is denied, lapsed holds end, as for a call.
      decide([holds], now, undefined, (at) => copyOf(holds).take(at, count)),
    );
  }

  /** @param used of the tokens held, or more; `undefined` for all of them. */
  end(by: number, id: string, used: number | undefined, now: number): Ended {
    return this.#onRow(by, (holds) => {
      return holds.end(id, now, used ?? holds.holds.get(id)?.taken.count ?? 0);
    });
  }

  /** Before the bucket is shown, lapsed holds end. */
  reclaim(by: number, now: number): void {
    this.#onRow(by, (holds) => holds.reclaim(now));
  }

  /** Whether an id is charged for a call that an override answers, which ends no hold. */
  isKnown(id: string | undefined, now: number): boolean {
    const known = id === undefined ? undefined : this.#holds.ids.get(id);
    const isBack = known?.end === "released" || known?.end === "given back";
    return known !== undefined && !isBack && now < known.at + ONCE_FOR;
  }

  /** The tokens of all holds that no call has ended. */
  sum(): number {
    return [...this.#holds.holds.values()].reduce((sum, { taken }) => sum + taken.count, 0);
  }

  /** What the ends of holds have counted. */
  get used(): Partial<Usage> {
    return this.#holds.used;
  }

  /** With the config of one of the processes. */
  #onRow<TResult>(by: number, run: (holds: HoldsModel) => TResult): TResult {
    const { model } = this;
    const { part, rows } = model.resolved(by);
    const [id, holds] = [rowKey(rows[0]), this.#holds];
    holds.row = model.rows.get(id) ?? null;
    holds.config = part;
    const result = run(holds);
    if (holds.row !== null) model.rows.set(id, holds.row);
    return result;
  }
}

/** What it repeats is left to the tests of `once`. */
export const repeatedAt = (now: number): RateLimitResult => ({
  ok: true,
  repeated: true,
  value: 0,
  ts: now,
});
