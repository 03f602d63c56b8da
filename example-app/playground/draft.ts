/** The texts of the form's fields. Times are in seconds. */
import { SECOND } from "trpc-rate-limit";
import type { PlaygroundChoice } from "./choice.js";

/** A calendar month is a fixed window whose period is not a number. */
export const KINDS = ["token bucket", "fixed window", "calendar month"] as const;

export interface Draft {
  kind: (typeof KINDS)[number];
  rate: string;
  period: string;
  capacity: string;
  shards: string;
  blockFor: string;
}

export const EMPTY_DRAFT: Draft = {
  kind: "token bucket",
  rate: "",
  period: "",
  capacity: "",
  shards: "1",
  blockFor: "0",
};

export function draftOf(choice: PlaygroundChoice): Draft {
  const { kind, rate, period, capacity, shards, blockFor = 0 } = choice;
  return {
    kind: period === "month" ? "calendar month" : kind,
    rate: String(rate),
    period: String(period === "month" ? 60 : period / SECOND),
    capacity: String(capacity),
    shards: String(shards),
    blockFor: String(blockFor / SECOND),
  };
}

export function choiceOfDraft(draft: Draft): PlaygroundChoice {
  const { kind, rate, period, capacity, shards } = draft;
  const blockFor = hasShards(draft) ? 0 : Math.round(Number(draft.blockFor) * SECOND);
  return {
    kind: kind === "token bucket" ? kind : "fixed window",
    rate: Number(rate),
    period: kind === "calendar month" ? "month" : Math.round(Number(period) * SECOND),
    capacity: Number(capacity),
    shards: Number(shards),
    ...(blockFor > 0 && { blockFor }),
  };
}

/** A limit with shards cannot have a block. */
export const hasShards = ({ shards }: Draft) => Number(shards) > 1;
