"use client";
export { RateLimitCountdown, type RateLimitCountdownProps } from "./rate-limit-countdown.js";
export { useCountdown } from "./use-countdown.js";
export type { CountdownLabels, CountdownWords } from "./words.js";
