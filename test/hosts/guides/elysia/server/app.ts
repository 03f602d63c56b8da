import { Elysia } from "elysia";
import {
  createRateLimitHandler,
  isRateLimitError,
  rateLimitResponse,
} from "trpc-rate-limit/server";
import { limiter } from "./limiter.js";
import { userIdOf } from "./session.js";

const rateLimit = new Elysia({ name: "rate-limit" })
  .macro({
    limited: (name: keyof typeof limiter.limits) => ({
      async beforeHandle({ request }) {
        const key = await userIdOf(request.headers);
        await limiter.limit(name, { key, throws: true });
      },
    }),
  })
  .onError({ as: "global" }, ({ error }) =>
    isRateLimitError(error) ? rateLimitResponse(error) : undefined,
  );

const limits = createRateLimitHandler({
  limiter,
  key: ({ request }) => userIdOf(request.headers),
});

export const app = new Elysia()
  .use(rateLimit)
  .all("/api/limits", ({ request }) => limits(request))
  .post("/messages", () => "sent", { limited: "sendMessage" });
