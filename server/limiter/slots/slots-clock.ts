/**
 * The time by which slots go. A process knows the database's clock only within bounds. A holder must have
 * stopped before another caller enters its slot. So a caller that looks for a slot goes by the earliest
 * time that the database's clock can have now, and a holder goes by the latest.
 */
import type { RateLimitStore } from "../../store/store.js";
import type { Environment } from "../claims/environment.js";

export interface SlotsClock {
  /** The environment's clock is never ahead of the database's clock. */
  environment: Environment;
  /** The latest that the database's clock can say now, epoch ms. */
  latest(): number;
}

/** @param store left out for an injected clock, which is right by definition. */
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
