"use client";
export type { TRPCClientLike } from "../trpc-clients.js";
export { RateLimitAdmin, type RateLimitAdminProps } from "./rate-limit-admin.js";
