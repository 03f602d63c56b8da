/** The limit that `changes-worker.ts` changes. */
import { HOUR } from "../../server/index.js";

export const CHANGED_LIMITS = { send: { kind: "token bucket", rate: 10, period: HOUR } } as const;
