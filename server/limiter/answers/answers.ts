/**
 * The chains of links that answer calls. Each link answers a call, or asks the next link; the last link
 * is the store. The chains are put together once, in the order in which the links ask. A link that a
 * limiter or a limit does not use is not in its chain.
 */
import type { OutageLog } from "../../report/logger.js";
import type { RateLimitStore, RowId } from "../../store/store.js";
import type { Crossed } from "../claims/warnings.js";
import type { Answers } from "./asked.js";
import { type BlockParts, fromBlocks } from "./leased.js";
import { crossing, noted } from "./changes.js";
import { inTime, oneInTime } from "./deadline.js";
import { overridden, overriddenOne } from "./overridden.js";
import { fromMemory, type RememberedDenials } from "./remembered-denials.js";
import { fromStore, oneByList, reporting } from "./store.js";
import { neverOpened, whenStoreFails } from "./when-store-fails.js";

/** What answers tell of. */
interface Telling {
  changed(row: RowId): void;
  crossed(levels: readonly Crossed[]): void;
}

export interface AnswersParts extends Omit<BlockParts, "leases" | "ask">, Telling {
  readonly store: RateLimitStore;
  readonly hasFixed: boolean;
  readonly denials: RememberedDenials;
  /** Absent where no call can wait for a take that another request has sent. */
  readonly leases: BlockParts["leases"] | undefined;
}

/**
 * A call of `limit` asks, in this order: a block of this process, a remembered denial, an override that
 * answers every call, and the store, within the deadline. Other operations begin with the override.
 */
export function limiterAnswers(parts: AnswersParts): Answers {
  const { store, deadline, denials, leases, hasFixed, clock } = parts;
  const inStore = oneInTime(deadline)(fromStore(store));
  const ask = hasFixed ? overriddenOne(inStore) : inStore;
  const memory = fromMemory(denials, clock)(ask);
  const blocks = leases && fromBlocks({ ...parts, leases, ask });
  const apply = noted(parts.changed)(inTime(deadline)(store));
  return {
    ask,
    limit: {
      row: ask,
      memory,
      block: blocks?.(ask) ?? ask,
      "block, memory": blocks?.(memory) ?? memory,
    },
    apply: crossing(parts.crossed)(hasFixed ? overridden(apply) : apply),
    opened: whenStoreFails(clock),
  };
}

/**
 * Inside a transaction, a call asks an override that answers every call, and then the store. The owner of
 * the transaction bounds its time. A failure ends the transaction, so no limit is open. The rows of the
 * transaction are not committed yet, so neither blocks nor remembered denials count.
 */
export function joinedAnswers(
  store: Pick<RateLimitStore, "apply">,
  parts: Pick<AnswersParts, "hasFixed" | keyof Telling> & { outage: OutageLog },
): Answers {
  const inStore = noted(parts.changed)(reporting(parts.outage)(store));
  const apply = parts.hasFixed ? overridden(inStore) : inStore;
  const ask = oneByList(apply);
  return {
    ask,
    limit: { row: ask, memory: ask, block: ask, "block, memory": ask },
    apply: crossing(parts.crossed)(apply),
    opened: neverOpened,
  };
}
