/**
 * Gives tokens of a call back, from the last entry of its receipt to the first. Tokens from a block go
 * back to the block while it lives. Other tokens go back to their rows, except tokens that were replaced
 * meanwhile.
 */
import { rowKey, type RowId } from "../../store/store.js";
import type { Line } from "../context/line.js";
import type { Context } from "../context/context.js";
import { type Claim, ClaimDecision } from "../claims/draft.js";
import { endHolds } from "../holds/settle-hold.js";
import type { EntryRefund } from "../claims/receipt-entries.js";
import type { Receipt } from "../claims/receipt.js";
import { refundRows } from "../claims/refund-rows.js";
import { withUsage } from "../claims/with-usage.js";

/**
 * Gives back up to `count` tokens, in the turn of the receipt. Each limit gets its part by a decision of
 * its own. After a failure of the store, some limits may have got their part and others not; no token
 * comes back twice.
 *
 * @returns the tokens that the rows of the last decision then hold; `undefined` if there was nothing to
 * give back.
 */
export async function giveBack(
  context: Context,
  receipt: Receipt,
  count: number,
): Promise<number | undefined> {
  const { scope } = context.environment;
  const { holds } = receipt;
  if (holds.length > 0) {
    const ended = await endHolds(context, holds, { kind: "give back", count });
    return ended.ok ? ended.value : undefined;
  }
  const own = Math.min(count, receipt.ownCountIn(scope));
  usePassed(context, receipt, Math.max(0, receipt.passed - (count - own)));
  let value = own > 0 ? await giveBackOwn(context, receipt, own) : undefined;
  let rest = count - own;
  for (const payer of receipt.payers.toReversed()) {
    await payer.inTurn(scope, async () => {
      const part = Math.min(rest, payer.ownCountIn(scope));
      if (part <= 0) return;
      rest -= part;
      value = await giveBackOwn(context, payer, part);
    });
  }
  return value;
}

/**
 * Corrects the use of a call that was let through without taking tokens, by an outage or a shadow. Only
 * the usage of the limit changes.
 */
export function usePassed({ usage }: Context, receipt: Receipt, used: number): void {
  const { limit, passed } = receipt;
  receipt.passed = used;
  if (used > passed) usage.add(limit, { taken: used - passed });
  if (used < passed) usage.add(limit, { givenBack: passed - used });
}

async function giveBackOwn(context: Context, receipt: Receipt, count: number): Promise<number> {
  const { apply, environment, onChange } = context;
  const { limit, marker } = receipt;
  const claimed = receipt.claim(count, environment.scope);
  // In a transaction, no block gets tokens back: a rollback could not take them out of the block again.
  const returned = environment.scope === undefined ? claimed.filter(returnToBlock) : [];
  const others = claimed.filter((refund) => !returned.includes(refund));
  const toBlock = returned.reduce((sum, refund) => sum + refund.count, 0);
  if (toBlock > 0) context.usage.add(limit, { givenBack: toBlock });
  if (others.length === 0) {
    const { row, remaining } = returned.at(-1)!.block!;
    return row.value + remaining;
  }
  const { clock } = environment;
  const now = clock();
  const claims = others.map(({ rows, count: tokens, taken }) =>
    withUsage(refundRows(limit, rows, tokens, taken), limit, now, { givenBack: tokens }),
  );
  if (marker !== undefined && receipt.ownCountIn(environment.scope) === 0) {
    // Without this, the next call with the id would pass for nothing.
    claims.unshift(forgettingMarker(claims.shift()!, marker.row, marker.ts));
  }
  const [only, ...more] = claims;
  const line = more.length === 0 && lineOf(context, receipt);
  const answers = line
    ? [await line.givingBack(only!)]
    : await apply(claims.map((claim) => new ClaimDecision(claim, clock)));
  context.usage.add(limit, { givenBack: count - toBlock }, true);
  for (const [i, { refunded }] of answers.entries()) others[i]!.answer(refunded);
  if (answers.some(({ refunded }) => refunded.some((tokens) => tokens > 0))) {
    onChange(limit.name, limit.key);
  }
  return answers.at(-1)!.value;
}

/** The calls of this process that wait for the only row of a limit. */
function lineOf({ lines, environment }: Context, { limit }: Receipt): Line | undefined {
  if (environment.scope !== undefined || limit.part !== limit.config) return undefined;
  return lines?.get(rowKey(limit.rows[0]));
}

/** The claim that gives all tokens of a call back, and deletes the marker of the call with them. */
function forgettingMarker<TAnswer>(
  claim: Claim<TAnswer>,
  marker: RowId,
  ts: number,
): Claim<TAnswer> {
  return {
    rows: [...claim.rows, marker],
    attempt(draft, now) {
      // With another `ts`, the marker is of a later call: the call's own marker has lapsed.
      if (draft.peek(marker)?.ts === ts) draft.write(marker, null);
      return claim.attempt(draft, now);
    },
  };
}

/** Gives tokens back to the block that they are from, if the block still lives. */
function returnToBlock(refund: EntryRefund): boolean {
  const { block, count } = refund;
  if (block === undefined || !block.isLiving()) return false;
  block.giveBack(count);
  refund.answer([count]);
  return true;
}
