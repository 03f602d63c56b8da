/**
 * The time by which slots go. A process knows the database's clock only within bounds. Of two callers,
 * one must have stopped before the other one enters. So callers that look for a slot go by the least
 * time that it can be, and a holder stops at the latest.
 */
import type { RateLimitStore } from "../../store/store.js";
import type { Environment } from "../claims/environment.js";

export interface SlotsClock {
  /** Its clock is never ahead of the database's. */
  environment: Environment;
  /** The latest that the database's clock can say now, epoch ms. */
  latest(): number;
}

/** @param store left out where the clock was injected, which is right by definition. */
export function slotsClock(
  environment: Environment,
  store: Pick<RateLimitStore, "clockAhead" | "clockBehind"> | undefined,
): SlotsClock {
  const clock = () => environment.clock();
  if (store === undefined) return { environment, latest: clock };
  return {
    environment: {
      ...environment,
      clock: () => Math.floor(clock() - (store.clockAhead?.() ?? 0)),
    },
    latest: () => clock() + (store.clockBehind?.() ?? 0),
  };
}
