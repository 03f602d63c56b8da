/**
 * Decides which visitors may look into the control room, and runs the customers whose calls are seen
 * there.
 */
import { TRPCError } from "@trpc/server";
import { z } from "zod";
import type { App } from "../shared/server/trpc.js";
import { callAsCustomers, callTooMuch } from "./traffic.js";

export function controlRoomRouter(app: App) {
  const { t, operators } = app;
  /** How many pages look. The customers call once, however many pages look. */
  let looking = 0;
  let ending: AbortController | undefined;

  return t.router({
    /** The page asks this before it opens the room, so that some customers are limited by then. */
    me: t.procedure.query(async ({ ctx }) => {
      const isOperator = await operators.has(ctx.visitor);
      if (isOperator && looking === 0) await callTooMuch(app);
      return { key: ctx.visitor, isOperator, isOpen: operators.isOpen };
    }),

    become: t.procedure
      .input(z.object({ isOperator: z.boolean() }))
      .mutation(async ({ ctx, input: { isOperator } }) => {
        if (isOperator && !operators.isOpen) throw new TRPCError({ code: "FORBIDDEN" });
        await operators.set(ctx.visitor, isOperator);
        return { isOperator };
      }),

    /** Lets customers call while a page looks. */
    customers: t.procedure.subscription(async function* ({ signal }) {
      if (looking++ === 0) {
        ending = new AbortController();
        callAsCustomers(app, ending.signal).catch(() => {});
      }
      try {
        yield { areCalling: true };
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      } finally {
        if (--looking === 0) ending?.abort();
      }
    }),
  });
}
