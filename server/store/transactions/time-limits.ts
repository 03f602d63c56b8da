/** How long a transaction may take where neither the call nor the client has a bound of its own. */
import { startTimer } from "../../timers/timer.js";

/** How long a transaction may take, ms, as in Prisma. */
export const TIMEOUT = 5000;
/** How long a transaction may wait for a connection, ms, as in Prisma. */
export const MAX_WAIT = 2000;

/** Rejects with the error of `late` if `work` takes longer than `ms`. */
export function within<TResult>(
  work: Promise<TResult>,
  ms: number,
  late: () => Error,
): Promise<TResult> {
  return new Promise((resolve, reject) => {
    const timer = startTimer(() => reject(late()), ms);
    work.then(resolve, reject).finally(() => timer.stop());
  });
}
