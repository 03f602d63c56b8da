/**
 * Who answers a call. Each link answers it, or asks the next one; the last one is the store. The chains
 * are put together once, in the order in which they ask. What a limiter or a limit does not use is no
 * link of its chain.
 */
import type { OutageLog } from "../../report/logger.js";
import type { RateLimitStore, RowId } from "../../store/store.js";
import type { Answers } from "./asked.js";
import { type BlockParts, fromBlocks } from "./block.js";
import { noted, notedOne } from "./changes.js";
import { inTime, oneInTime } from "./deadline.js";
import { overridden, overriddenOne } from "./overridden.js";
import { fromMemory, type RememberedDenials } from "./remembered-denials.js";
import { fromStore, oneByList, reporting } from "./store.js";
import { neverOpened, whenStoreFails } from "./when-store-fails.js";

export interface AnswersParts extends Omit<BlockParts, "leases" | "ask"> {
  readonly store: RateLimitStore;
  readonly hasOverrides: boolean;
  readonly denials: RememberedDenials;
  /** Absent where no call can wait for what another request has sent. */
  readonly leases: BlockParts["leases"] | undefined;
  /** Is told of rows that a decision may have written. */
  changed(row: RowId): void;
}

export function limiterAnswers(parts: AnswersParts): Answers {
  const { store, deadline, denials, leases, hasOverrides, clock } = parts;
  const inStore = oneInTime(deadline)(fromStore(store));
  const ask = hasOverrides ? overriddenOne(inStore) : inStore;
  const memory = fromMemory(denials, clock)(ask);
  const blocks = leases && fromBlocks({ ...parts, leases, ask });
  const applied = noted(parts.changed)(inTime(deadline)(store));
  return {
    ask,
    limit: {
      row: ask,
      memory,
      block: blocks?.(ask) ?? ask,
      "block, memory": blocks?.(memory) ?? memory,
    },
    apply: hasOverrides ? overridden(applied) : applied,
    opened: whenStoreFails(clock),
  };
}

/**
 * Inside a transaction: its owner bounds its time, and its failure has ended it. Its rows are not
 * committed yet, so neither blocks nor remembered denials count.
 */
export function joinedAnswers(
  store: Pick<RateLimitStore, "apply">,
  parts: Pick<AnswersParts, "hasOverrides" | "changed"> & { outage: OutageLog },
): Answers {
  const inStore = reporting(parts.outage)(store);
  const one = notedOne(parts.changed)(oneByList(inStore));
  const ask = parts.hasOverrides ? overriddenOne(one) : one;
  const applied = noted(parts.changed)(inStore);
  return {
    ask,
    limit: { row: ask, memory: ask, block: ask, "block, memory": ask },
    apply: parts.hasOverrides ? overridden(applied) : applied,
    opened: neverOpened,
  };
}
