/**
 * Asks the application whether a caller may use a procedure of the admin router. The application is asked
 * before the input is checked: an error about the input could tell names of limits.
 */
import { TRPCError } from "@trpc/server";
import { isTRPCError } from "../errors.js";
import type { AdminAction, RateLimitAdminOptions } from "./admin-types.js";

/** A call, as middleware gets it. */
interface GuardedCall {
  ctx: unknown;
  getRawInput: () => Promise<unknown>;
}

/** The fields, of these two, that the input of a procedure has. */
export type Takes = readonly ("name" | "key")[];

/** The limit and the key of a call, as far as the call names them. */
interface About<TName extends string> {
  name?: TName | undefined;
  key?: string | undefined;
  /** @default false */
  all?: boolean | undefined;
}

export interface Guard<TName extends string> {
  /**
   * Rejects with `FORBIDDEN`, unless the caller may take the action.
   *
   * @param takes the fields that the procedure uses. Other fields of the input are not passed to
   * `authorize`.
   */
  demand(action: AdminAction, takes: Takes, call: GuardedCall): Promise<void>;
  /** Whether the caller may take the action. */
  allows(ctx: unknown, action: AdminAction, about?: About<TName>): Promise<boolean>;
}

/** @param options `undefined` refuses all calls. */
export function createGuard<TContext extends object, TName extends string>(
  options: RateLimitAdminOptions<TContext, TName> | undefined,
  names: readonly TName[],
): Guard<TName> {
  const allows: Guard<TName>["allows"] = async (ctx, action, { name, key, all = false } = {}) => {
    if (options === undefined) return false;
    const asked = { ctx: ctx as TContext, action, name, key, all };
    try {
      const answer: unknown = await options.authorize(asked);
      // Plain JavaScript may answer with an object, such as an error, which is truthy.
      return answer === true;
    } catch (error) {
      if (isTRPCError(error)) throw error;
      const message = "Whether this caller may do it cannot be checked right now";
      throw new TRPCError({ code: "INTERNAL_SERVER_ERROR", message, cause: error });
    }
  };
  return {
    allows,
    async demand(action, takes, { ctx, getRawInput }) {
      // Ignore an input that cannot be read: tRPC reports the error afterwards, to a caller who is
      // allowed.
      const input: unknown =
        options === undefined ? undefined : await getRawInput().catch(() => {});
      const { name, key, all = false } = Object(input) as Record<string, unknown>;
      const isAllowed = await allows(ctx, action, {
        name: takes.includes("name") ? names.find((each) => each === name) : undefined,
        key: takes.includes("key") && typeof key === "string" ? key : undefined,
        // A value that is no boolean counts as `true` here. The check of the input refuses it afterwards.
        all: takes.includes("key") && all !== false,
      });
      if (isAllowed) return;
      throw refusal(action);
    },
  };
}

/** The error for a caller who may not take the action. */
export function refusal(action: AdminAction): TRPCError {
  return new TRPCError({ code: "FORBIDDEN", message: `This caller may not use "${action}"` });
}
