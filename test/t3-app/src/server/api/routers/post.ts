import { count } from "drizzle-orm";
import { z } from "zod";

import { createTRPCRouter, publicProcedure, rateLimited } from "~/server/api/trpc";
import { posts } from "~/server/db/schema";

export const postRouter = createTRPCRouter({
  hello: publicProcedure.input(z.object({ text: z.string() })).query(({ input }) => {
    return {
      greeting: `Hello ${input.text}`,
    };
  }),

  create: publicProcedure
    .input(z.object({ name: z.string().min(1) }))
    .use(rateLimited("createPost"))
    .mutation(async ({ ctx, input }) => {
      await ctx.db.insert(posts).values({
        name: input.name,
      });
    }),

  getLatest: publicProcedure.query(async ({ ctx }) => {
    const post = await ctx.db.query.posts.findFirst({
      orderBy: (posts, { desc }) => [desc(posts.id)],
    });

    return post ?? null;
  }),

  report: publicProcedure.use(rateLimited("readReport")).query(async ({ ctx }) => {
    const [row] = await ctx.db.select({ total: count() }).from(posts);

    return { total: row?.total ?? 0 };
  }),
});
