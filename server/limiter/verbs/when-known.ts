/**
 * When an operation begins: once the overrides are known, by which the names of its limits are resolved.
 * The wait comes before the whole operation, and is no link of the chains in `answers`.
 */
import { isOutage } from "../answers/when-store-fails.js";

/**
 * @param paidBy whether the call needs all of the limits that it names, or only the first limit that has
 * the tokens.
 * @default "all"
 */
export type WhenKnown = <TArgs extends unknown[], TResult>(
  operation: (...args: TArgs) => Promise<TResult>,
  paidBy?: "all" | "first",
) => (...args: TArgs) => Promise<TResult>;

/**
 * For a limiter without overrides, and for a transaction, which goes by the overrides that are known
 * already.
 */
export const atOnce: WhenKnown = (operation) => operation;

/**
 * @param fresh the read that a call has to wait for; `undefined` for none.
 * @param isOpen whether a limit lets its calls through when the store fails.
 */
export function afterOverrides(
  fresh: () => Promise<void> | undefined,
  isOpen: (name: string) => boolean,
): WhenKnown {
  return (operation, paidBy = "all") =>
    (...args) => {
      const waiting = fresh();
      if (waiting === undefined) return operation(...args);
      return waiting.then(
        () => operation(...args),
        (error: unknown) => {
          const open = openIn(args[0], isOpen);
          const passes = paidBy === "first" ? open.includes(true) : !open.includes(false);
          if (!passes || open.length === 0 || !isOutage(error)) throw error;
          return operation(...args);
        },
      );
    };
}

/** Which of the limits, or lists of limits, that a call is for let calls through, by its first argument. */
function openIn(of: unknown, isOpen: (name: string) => boolean): boolean[] {
  const items: readonly unknown[] = Array.isArray(of) ? of : [of];
  return items.map((item) => {
    if (typeof item === "string") return isOpen(item);
    const { name, first } = Object(item) as { name?: unknown; first?: unknown };
    // Of a `first`, one limit is enough.
    return Array.isArray(first) ? openIn(first, isOpen).includes(true) : isOpen(String(name));
  });
}
