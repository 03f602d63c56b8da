/** Gives a page the address by which a phone becomes its visitor. */
import type { App } from "../shared/server/trpc.js";
import type { Phone } from "./phone.js";

/** @param phone @default only this machine reaches the demo */
export function phoneRouter({ t }: Pick<App, "t">, phone?: Phone) {
  return t.router({
    address: t.procedure.query(({ ctx }) => ({
      isOpen: phone !== undefined,
      address: phone?.addressOf(ctx.visitor),
    })),
  });
}
