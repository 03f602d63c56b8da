/** Accounts for all who come, a hundred in five minutes for all visitors together. */
import { z } from "zod";
import type { App } from "./trpc.js";

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

    // The bucket is shared: `key` in trpc.ts says so. A sign-up that fails does not count.
    create: t.procedure
      .input(z.object({ name: z.string().trim().max(MAX_NAME) }))
      .use(rl.rateLimited("signUp", { on: "success" }))
      .mutation(async ({ input: { name } }) => {
        const { id } = await prisma.signUp.create({ data: { name } });
        return { id, name: name || `account ${id}` };
      }),
  });
}
