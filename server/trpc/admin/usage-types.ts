/** What the admin router shows of calls: over time, by key, and the latest denials. Plain JSON. */
import type { Usage } from "../../../core/usage.js";

/** The usage that was counted in one item. */
export interface AdminUsageItem extends Usage {
  /** The start of the item, epoch ms. */
  start: number;
  /** The end of the item, epoch ms. */
  end: number;
}

/** The answer of `usage`. */
export interface AdminUsage {
  /** The items in order, without gaps. */
  items: AdminUsageItem[];
  /**
   * The source of the numbers. `"usage"`: `limiter.usage`, for all processes. `"process"`: the decisions
   * of this process since `since`; `givenBack` is then 0, because tokens that are given back are not
   * known.
   */
  source: "usage" | "process";
  /** From when on the numbers are complete, epoch ms. */
  since: number;
}

/** The answer of `top`. */
export interface AdminTop<TName extends string = string> {
  /** The limiter's clock, epoch ms. */
  now: number;
  /** The keys with the most, the most first. A key with nothing of it is left out. */
  items: {
    /** The limit. */
    name: TName;
    /** The key of the rows, hashed where there is a `hashKey`; absent for the calls without a key. */
    key?: string | undefined;
    /** Calls that were granted. */
    granted: number;
    /** Calls that were denied. */
    denied: number;
    /** Tokens that were taken. */
    taken: number;
    /** The part of the total of `by` of all limits that were asked for, 0 to 1. */
    share: number;
  }[];
  /** The sums of all keys of all limits that were asked for. */
  total: { granted: number; denied: number; taken: number };
  /**
   * The source of the numbers of each limit. `"usage"`: `limiter.topUsage`, for all processes.
   * `"processes"`: the latest decisions of the processes that have answered through the limiter's channel.
   * `"process"`: the latest decisions of this process. In the latter two, the numbers of a key are never
   * too high, and may be too low by 1/100 of the total of a process.
   */
  sources: {
    /** The limit. */
    name: TName;
    /** Where the numbers are from. */
    source: "usage" | "processes" | "process";
    /** From when on the numbers are complete, epoch ms. */
    since: number;
  }[];
}

/** A call that was denied. */
export interface AdminDenial<TName extends string = string> {
  /** When the call was denied, epoch ms. */
  at: number;
  /** The limit. */
  name: TName;
  /** The key of the rows, hashed where there is a `hashKey`; absent for the shared bucket. */
  key?: string | undefined;
  /** The tokens that the call wanted. */
  count: number;
  /** Whole ms that the call was told to wait; 8e15 for never. */
  retryAfter: number;
}

/** The answer of `denials`. */
export interface AdminDenials<TName extends string = string> {
  /** The limiter's clock, epoch ms. */
  now: number;
  /** From when on the list is complete, epoch ms. */
  since: number;
  /** The denials, the newest first. */
  items: AdminDenial<TName>[];
}
