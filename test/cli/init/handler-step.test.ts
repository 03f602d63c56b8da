/** The output of `init` for an application without tRPC. */
import { expect, it } from "vitest";
import { runInit } from "../../support/run-init.js";
import { makeFolder } from "../../support/scaffold.js";
import { packageJson } from "../../support/trpc-applications.js";

async function printedFor(packages: readonly string[], extension = "ts"): Promise<string> {
  await using app = await makeFolder({
    "package.json": packageJson("pg", ...packages),
    [`src/db.${extension}`]:
      'import { Pool } from "pg";\nexport const pool = new Pool({ connectionString: process.env.DATABASE_URL });\n',
    [`src/server.${extension}`]:
      'import express from "express";\nexport const app = express();\napp.get("/", (_req, res) => res.send("hello"));\n',
  });
  return (await runInit(app.root)).replace(/\n {2,}/g, "\n");
}

it("shows the countdown of the entry point that needs no tRPC, where there is React", async () => {
  const printed = await printedFor(["express", "react"]);
  expect(printed).toContain(
    'import { RateLimitCountdown, useCountdown } from "trpc-rate-limit/countdown";',
  );
  expect(printed).toContain("const [retryAt, setRetryAt] = useState<number>();");
  expect(printed).toContain("setRetryAt(Date.now() + retryAfter);");
  expect(printed).toContain("<RateLimitCountdown retryAt={retryAt} />");
});

it("has no types where the application has none", async () => {
  expect(await printedFor(["express", "react"], "js")).toContain("= useState();");
});

it("shows no HTML in React Native", async () => {
  const printed = await printedFor(["express", "react", "react-native"]);
  expect(printed).toContain('import { useCountdown } from "trpc-rate-limit/countdown";');
  expect(printed).toContain("<Button disabled={seconds > 0}");
  expect(printed).not.toContain("RateLimitCountdown");
});

it("says what the answer has, where there is no React", async () => {
  const printed = await printedFor(["express"]);
  expect(printed).toContain("const { retryAfter } = await response.json(); // milliseconds\n}");
  expect(printed).not.toContain("/countdown");
});
