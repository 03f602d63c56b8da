/** Applications without tRPC: `init` wires server and page where they share an origin. */
import type { Shape } from "../shape.js";
import { EXPRESS } from "./express.js";
import { HONO } from "./hono.js";
import { NEXT } from "./next.js";
import { START } from "./start.js";

export const WITHOUT_TRPC: readonly Shape[] = [...NEXT, ...HONO, ...EXPRESS, START];
