/** The limits of `top-worker.ts`. */
import { DAY } from "../../server/index.js";

const one = { kind: "token bucket", rate: 1, period: 365 * DAY } as const;

export const TOP_LIMITS = { counted: { ...one, usage: true }, plain: one } as const;
export const KEY = "ann";
