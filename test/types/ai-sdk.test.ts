/** The types of `limitModel` beside those of each version of the AI SDK. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { hasAiSdk, NO_AI_SDK } from "../support/ai-sdk.js";

it("wrapLanguageModel of the AI SDK 5, 6 and 7 takes the middleware", async ({ skip }) => {
  if (!hasAiSdk) skip(NO_AI_SDK);
  const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
  const project = fileURLToPath(new URL("../ai/", import.meta.url));
  const compiled = promisify(execFile)(process.execPath, [tsc, "-p", project]);
  const { stdout } = await compiled.catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});
