"use client";

import { createRateLimitReact } from "trpc-rate-limit/react";

import { type AppRouter } from "~/server/api/root";

export const { RateLimitProvider, RateLimitCountdown, useRateLimit } =
  createRateLimitReact<AppRouter>();
