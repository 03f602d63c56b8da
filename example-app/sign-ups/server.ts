/** Accounts for all who come, a hundred in five minutes for all visitors together. */
import { z } from "zod";
import type { App } from "../shared/server/trpc.js";
import { whenFree } from "../shared/server/when-free.js";

const SHOWN = 10;
const MAX_NAME = 40;

export function signUpsRouter({ t, rl, prisma }: App) {
  return t.router({
    list: t.procedure.query(async () => {
      const [count, latest] = await Promise.all([
        prisma.signUp.count(),
        prisma.signUp.findMany({ orderBy: { id: "desc" }, take: SHOWN }),
      ]);
      return {
        count,
        latest: latest.map(({ id, name, createdAt }) => ({
          id,
          name: name || `account ${id}`,
          createdAt: createdAt.toISOString(),
        })),
      };
    }),

    create: t.procedure
      .input(z.object({ name: z.string().trim().max(MAX_NAME) }))
      // Limit: a sign-up that fails does not count.
      .use(rl.rateLimited("signUp", { on: "success" }))
      .mutation(async ({ input: { name } }) => {
        const { id } = await whenFree(prisma, () => prisma.signUp.create({ data: { name } }));
        return { id, name: name || `account ${id}` };
      }),
  });
}
