import { ORPCError, os } from "@orpc/server";
import type { ResponseHeadersPluginContext } from "@orpc/server/plugins";
import { isRateLimitError, rateLimitHeaders } from "trpc-rate-limit/server";
import { limiter } from "./limiter.js";

const base = os.$context<ResponseHeadersPluginContext & { userId: string }>();

const limited = (name: keyof typeof limiter.limits) =>
  base.middleware(async ({ context, next }) => {
    try {
      await limiter.limit(name, { key: context.userId, throws: true });
    } catch (error) {
      if (!isRateLimitError(error)) throw error;
      const fields = Object.entries(rateLimitHeaders(error));
      for (const [field, value] of fields) context.resHeaders?.set(field, value);
      throw new ORPCError("TOO_MANY_REQUESTS", { data: error.data });
    }
    return next();
  });

export const router = {
  sendMessage: base.use(limited("sendMessage")).handler(() => "sent"),
};
