import { describe } from "vitest";
import { itServesLimits } from "../../support/handler-suite.js";
import { hasWorkerd, NO_WORKERD, startWorker } from "./start-worker.js";

/** Where nothing tells that a client has left, a stream counts for 15 s. */
const VANISHES = 40_000;

describe.skipIf(!hasWorkerd)(`the handler of limits in a Worker (${NO_WORKERD})`, () => {
  itServesLimits(() => startWorker(new URL("handler-worker.ts", import.meta.url)), VANISHES);
});
