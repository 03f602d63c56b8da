/** The leases of one limiter, by row and config. */
import { sameConfig } from "../../core/same-config.js";
import { rowKey, type RowId } from "../store/store.js";
import type { LeasedLimit } from "./block-take.js";
import type { LeaseClocks } from "./clocks.js";
import { Lease } from "./lease.js";
import type { LeaseTerms } from "./lease-terms.js";

/**
 * The most rows with a lease; some 600 bytes each. Beyond so many rows, the oldest lease is forgotten,
 * and its tokens are lost.
 */
const MAX_ROWS = 10_000;

/** A limit that may have no lease. */
interface Limit extends Pick<LeasedLimit, "rows"> {
  readonly lease: LeaseTerms | undefined;
}

export class Leases<TCall = unknown> {
  private readonly byRow = new Map<string, Lease<TCall>>();

  constructor(readonly clocks: LeaseClocks) {}

  /** The lease of a limit, for a call. */
  of({ rows, lease: terms }: LeasedLimit): Lease<TCall> {
    const id = rowKey(rows[0]);
    const first = this.byRow.get(id);
    const known = find(first, terms);
    if (known !== undefined) return known;
    const made = new Lease<TCall>(terms, this.clocks);
    made.next = busyOf(first);
    this.byRow.set(id, made);
    if (this.byRow.size > MAX_ROWS) this.forgetOldest();
    return made;
  }

  /** Tokens that this process holds of a limit, beside its row. */
  inBlocks({ rows, lease: terms }: Limit): number {
    return this.known(rows[0], terms)?.tokens() ?? 0;
  }

  /** Whether a call for that many tokens can be served from memory. */
  covers({ rows, lease: terms }: Limit, count: number): boolean {
    return this.known(rows[0], terms)?.covers(count) ?? false;
  }

  /** Ends the blocks of a row, under all its configs. */
  stop(row: RowId): void {
    if (this.byRow.size === 0) return;
    for (let lease = this.byRow.get(rowKey(row)); lease !== undefined; lease = lease.next) {
      lease.stop();
    }
  }

  private known(row: RowId, terms: LeaseTerms | undefined): Lease<TCall> | undefined {
    if (terms === undefined || this.byRow.size === 0) return undefined;
    return find(this.byRow.get(rowKey(row)), terms);
  }

  private forgetOldest(): void {
    for (const [id, lease] of this.byRow) {
      this.byRow.delete(id);
      if (lease.waiting === undefined) return;
      // The take of this lease is under way, so the lease counts as new.
      this.byRow.set(id, lease);
    }
  }
}

/**
 * The leases of a row without the idle ones. A caller may give each call another config, which makes a
 * lease each.
 */
function busyOf<TCall>(lease: Lease<TCall> | undefined): Lease<TCall> | undefined {
  if (lease === undefined) return undefined;
  const others = busyOf(lease.next);
  if (lease.isIdle()) return others;
  lease.next = others;
  return lease;
}

function find<TCall>(first: Lease<TCall> | undefined, terms: LeaseTerms): Lease<TCall> | undefined {
  for (let lease = first; lease !== undefined; lease = lease.next) {
    if (lease.terms === terms) return lease;
    if (lease.terms.ms !== terms.ms || !sameConfig(lease.terms.config, terms.config)) continue;
    // The next call has the same object, so the comparison with `===` finds the lease.
    lease.terms = terms;
    return lease;
  }
  return undefined;
}
