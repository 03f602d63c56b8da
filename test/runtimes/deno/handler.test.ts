import { beforeAll, describe, it } from "vitest";
import { deno, DENO_PROJECT, installInDeno, NO_DENO } from "../../support/deno.js";
import { itServesLimits } from "../../support/handler-suite.js";
import { startProgram } from "../../support/start-program.js";

describe.skipIf(deno === undefined)("the handler of limits in Deno", () => {
  beforeAll(installInDeno);
  const args = ["run", "-A", "--no-check", "run/handler.ts"];
  itServesLimits(() => startProgram(deno!, args, { cwd: DENO_PROJECT }));
});

if (deno === undefined) it("the handler of limits in Deno", ({ skip }) => skip(NO_DENO));
