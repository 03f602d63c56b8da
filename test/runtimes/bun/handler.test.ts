import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bun, NO_BUN } from "../../support/bun.js";
import { clientOf, itServesLimits } from "../../support/handler-suite.js";
import { startProgram } from "../../support/start-program.js";

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const hasElysia = existsSync(pathOf("../../hosts/node_modules/elysia"));

describe.skipIf(bun === undefined)(`the handler of limits in Bun (${NO_BUN})`, () => {
  describe("Bun.serve", () => {
    itServesLimits(() => startProgram(bun!, [pathOf("run/handler.ts")]));

    it("keeps a stream open on which nothing happens for longer than Bun waits", async () => {
      await using host = await startProgram(bun!, [pathOf("run/handler.ts")]);
      const stream = await clientOf(host.url, "idle").watch();
      await new Promise((resolve) => setTimeout(resolve, 14_000));
      expect(stream.isOver).toBe(false);
    });
  });

  describe.skipIf(!hasElysia)("Elysia", () => {
    itServesLimits(() =>
      startProgram(bun!, [pathOf("../../hosts/elysia-on-bun.ts")], { path: "/api/limits" }),
    );
  });
});
