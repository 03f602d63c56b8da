import { postRouter } from "~/server/api/routers/post";
import { createCallerFactory, createTRPCRouter, rateLimitRouter } from "~/server/api/trpc";

export const appRouter = createTRPCRouter({
  post: postRouter,
  rateLimit: rateLimitRouter,
});

export type AppRouter = typeof appRouter;

export const createCaller = createCallerFactory(appRouter);
