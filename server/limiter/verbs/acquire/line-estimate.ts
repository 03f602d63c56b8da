/** How long the calls of a line wait, by the tokens that the last answers left in the rows. */
import { type RateLimitState, stateAt } from "../../../../core/calculate.js";
import { waitFor } from "../../../../core/rows/reading.js";
import { rowOfTokens } from "../../../../core/rows/bucket.js";
import { floorOf } from "../../../../core/config.js";
import type { Context } from "../../context/context.js";
import type { LimitRequest } from "../../limits/limit-request.js";
import type { Granted } from "../../context/line.js";
import { readLimits } from "../read.js";

/** The pace is about the mean of so many answers. */
const ANSWERS = 16;

export class LineEstimate {
  /** The tokens of all shards together. */
  #seen: RateLimitState | undefined;
  /**
   * The time between the turns of this line, ms per token. Lines of other processes take turns in
   * between.
   */
  #pace = 0;
  /** The last turn that an answer has promised, epoch ms. */
  lastTurn: number | undefined;
  #reading: Promise<void> | undefined;
  /** The round trip of the last answer, ms. */
  roundTrip = 0;

  constructor(private readonly context: Context) {}

  get isKnown(): boolean {
    return this.#seen !== undefined;
  }

  /** Tokens left, as far as is known. */
  get value(): number {
    return this.#seen?.value ?? 0;
  }

  answered({ limit, count }: LimitRequest, result: Granted, roundTrip: number): void {
    this.roundTrip = roundTrip;
    this.saw({ limit }, result, result.value);
    const turn = this.context.environment.clock() + (result.retryAfter ?? 0);
    const last = this.lastTurn;
    this.lastTurn = turn;
    // Turns of a fixed window come all together when a window starts, so two turns tell no pace.
    if (last === undefined || limit.config.kind === "fixed window" || count === 0) return;
    const gap = Math.max(0, turn - last) / count;
    this.#pace += (gap - this.#pace) / ANSWERS;
  }

  /** @param value the tokens left in the row, or in the shards that gave the tokens. */
  saw({ limit }: Pick<LimitRequest, "limit">, { ts, shards }: Granted, value: number): void {
    const all = limit.config.shards ?? 1;
    this.#seen = { value: (value * all) / (shards?.length ?? all), ts };
  }

  /** Reads the tokens in the rows. Callers that ask at the same time share the answer. */
  read({ limit }: LimitRequest): Promise<void> {
    this.#reading ??= readLimits(this.context, [limit])
      .then(([read]) => {
        this.#seen = read!.state;
      })
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  /** Ms until the last turn; 0 where it has come. */
  untilLastTurn(): number {
    const now = this.context.environment.clock();
    return Math.max(0, (this.lastTurn ?? now) - now);
  }

  /**
   * The wait of a call: whole ms from now, at least 0.
   *
   * @param tokens the tokens of the call, and of all calls before it.
   */
  waitOf({ limit: { config } }: LimitRequest, tokens: number): number {
    if (this.#seen === undefined) return 0;
    const now = this.context.environment.clock();
    const floor = floorOf(config, false);
    const { value } = stateAt(this.#seen, config, now);
    const row = rowOfTokens(config, this.#seen);
    const wait = value - tokens >= floor ? 0 : waitFor(row, config, now, tokens, floor);
    const turns = this.untilLastTurn() + this.#pace * tokens;
    return Math.ceil(Math.max(wait, wait === 0 ? 0 : turns));
  }
}
