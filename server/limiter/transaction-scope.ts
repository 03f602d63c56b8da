/**
 * One try of a `transaction`, as far as results remember it. What it charges and the results of its
 * calls count for others only once it is committed. What it gives back is claimed at once, so that
 * no other call gives the same tokens back, and is released if it is rolled back.
 */
import type { RefundClaim, TakenPart } from "./taken-part.js";

/** A result, as far as what was taken for it is committed. */
interface Committed {
  readonly parts: TakenPart[];
}

export class TransactionScope {
  /** Whether the caller's function has resolved, so that a commit may have followed. */
  isRun = false;
  #outcome: "open" | "committed" | "rolled back" | "unknown" = "open";
  readonly #parts = new Map<Committed, TakenPart[]>();
  readonly #turns = new Map<Committed, Promise<unknown>>();
  readonly #claims: RefundClaim[] = [];

  get outcome() {
    return this.#outcome;
  }

  /** What was taken for a result in this transaction, while it is open. */
  partsOf(taking: Committed): TakenPart[] {
    if (this.#outcome !== "open") return [];
    let parts = this.#parts.get(taking);
    if (parts === undefined) this.#parts.set(taking, (parts = []));
    return parts;
  }

  noteClaims(claims: readonly RefundClaim[]): void {
    this.#claims.push(...claims);
  }

  /** Runs `work` after the corrections of the same result in this transaction. */
  inTurn<TResult>(taking: Committed, work: () => Promise<TResult>): Promise<TResult> {
    const running = (this.#turns.get(taking) ?? Promise.resolve()).then(work);
    const settled = running.catch(() => {});
    this.#turns.set(taking, settled);
    return running;
  }

  /**
   * @param outcome `"unknown"` where the answer to the commit was lost. Then nothing is released, so
   * that nothing comes back twice, and nothing counts as taken.
   */
  end(outcome: "committed" | "rolled back" | "unknown"): void {
    this.#outcome = outcome;
    if (outcome === "committed") {
      for (const [taking, parts] of this.#parts) taking.parts.push(...parts);
    }
    if (outcome === "rolled back") for (const claim of this.#claims) claim.undo();
    this.#parts.clear();
    this.#claims.length = 0;
  }
}
