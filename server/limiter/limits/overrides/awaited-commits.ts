/**
 * The overrides that transactions of the application have written (`using(tx)`), until they are seen in
 * the table. The limiter is not told when such a transaction commits, so the limiter looks for the
 * commit.
 */
import { bucketId } from "../../../../core/bucket-id.js";
import { isSameOverride, type OverrideRow } from "../../../store/override-table.js";
import type { OverrideChange } from "./override-change.js";

/** For how long a commit is looked for, ms. After a rollback, there is no commit to be seen. */
const AWAITED_FOR = 5000;

interface Awaited extends Pick<OverrideChange, "row"> {
  tx: unknown;
  /** Of the name and the key. */
  id: string;
  until: number;
  /** Called once, when the commit is seen. */
  seen(): void;
}

export class AwaitedCommits {
  #awaited: Awaited[] = [];

  /** Whether any commit is looked for. */
  get isAny(): boolean {
    const now = performance.now();
    this.#awaited = this.#awaited.filter(({ until }) => now < until);
    return this.#awaited.length > 0;
  }

  /** Whether the commit of this transaction is looked for. */
  isAwaited(tx: unknown): boolean {
    return this.isAny && this.#awaited.some((awaited) => awaited.tx === tx);
  }

  /** The last write of a transaction about a key is the one that will be seen. */
  add(tx: unknown, { id: { name, key }, row }: OverrideChange, seen: () => void): void {
    const id = bucketId(name, key);
    const others = this.#awaited.filter((awaited) => awaited.tx !== tx || awaited.id !== id);
    const until = performance.now() + AWAITED_FOR;
    this.#awaited = [...others, { tx, id, row, until, seen }];
  }

  /** @param rowOf the table, as all can see it. */
  look(rowOf: (id: string) => OverrideRow | undefined): void {
    if (this.#awaited.length === 0) return;
    const isThere = ({ id, row }: Awaited) => isSameOverride(rowOf(id), row);
    const committed = this.#awaited.filter(isThere);
    this.#awaited = this.#awaited.filter((awaited) => !committed.includes(awaited));
    for (const { seen } of committed) seen();
  }
}
