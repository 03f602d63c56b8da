/** The output of `init` for an application without tRPC whose server or page has no known form. */
import { expect, it } from "vitest";
import { runInit } from "../../../support/run-init.js";
import { makeFolder } from "../../../support/scaffold.js";
import { packageJson } from "../../../support/trpc-applications.js";

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

it("shows the handler, its route and the page's hooks, where there is React", async () => {
  const printed = await printedFor(["express", "react"]);
  expect(printed).toContain("export const limitsHandler = toNodeHandler(");
  expect(printed).toContain('app.all("/api/limits", limitsHandler);');
  expect(printed).toContain('app.post("/posts", rateLimited("createPost"), …);');
  expect(printed).toContain('createRateLimitReact<typeof limiter>({ url: "/api/limits" });');
  expect(printed).toContain("<RateLimitProvider>{children}</RateLimitProvider>");
  expect(printed).toContain("<RateLimitButton ");
});

it("has no types where the application has none", async () => {
  const printed = await printedFor(["express", "react"], "js");
  expect(printed).toContain("export const keyOf = (req) => ipKey(req.ip);");
  expect(printed).toContain('createRateLimitReact({ url: "/api/limits" });');
  expect(printed).not.toContain("import type");
});

it("shows no HTML in React Native", async () => {
  const printed = await printedFor(["express", "react", "react-native"]);
  expect(printed).toContain("export const limitsHandler = toNodeHandler(");
  expect(printed).toContain("<Button disabled={seconds > 0}");
  expect(printed).not.toMatch(/RateLimitCountdown|RateLimitButton/);
});

it("says what the answer has, and nothing of live limits, where there is no React", async () => {
  const printed = await printedFor(["express"]);
  expect(printed).toContain("const { retryAfter } = await response.json(); // milliseconds\n}");
  expect(printed).not.toMatch(/limitsHandler|\/fetch\/react/);
});

it("shows Fastify's own hooks", async () => {
  const printed = await printedFor(["fastify", "react"]);
  expect(printed).toContain("limitsHandler(request, reply.raw);");
  expect(printed).toContain("app.setErrorHandler(");
});
