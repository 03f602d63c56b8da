import "reflect-metadata";
import { NestFactory } from "@nestjs/core";
import type { Request as ExpressRequest } from "express";
import { createRateLimitHandler, toNodeHandler } from "trpc-rate-limit/server";
import { AppModule } from "./app.module.js";
import { limiter } from "./limiter.js";
import { userIdOf } from "./session.js";

const limits = createRateLimitHandler({
  limiter,
  context: (_request, req: ExpressRequest) => req,
  key: ({ ctx }) => userIdOf(ctx),
});

export const app = await NestFactory.create(AppModule);
app.use(
  "/api/limits",
  toNodeHandler(limits, (req: ExpressRequest) => req),
);
await app.listen(Number(process.env.PORT ?? 3000));
