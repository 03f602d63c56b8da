import { type CanActivate, type ExecutionContext, HttpException, UseGuards } from "@nestjs/common";
import type { Request as ExpressRequest, Response as ExpressResponse } from "express";
import { isRateLimitError, rateLimitHeaders } from "trpc-rate-limit/server";
import { limiter } from "./limiter.js";
import { userIdOf } from "./session.js";

class RateLimitGuard implements CanActivate {
  constructor(private readonly name: keyof typeof limiter.limits) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const key = userIdOf(http.getRequest<ExpressRequest>());
    try {
      await limiter.limit(this.name, { key, throws: true });
      return true;
    } catch (error) {
      if (!isRateLimitError(error)) throw error;
      http.getResponse<ExpressResponse>().set(rateLimitHeaders(error));
      throw new HttpException(error.data.rateLimit, 429);
    }
  }
}

export const RateLimited = (name: keyof typeof limiter.limits) =>
  UseGuards(new RateLimitGuard(name));
