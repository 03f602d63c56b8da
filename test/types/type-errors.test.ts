/** The type errors of a misspelt name, as the compiler words them. */
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const PROJECT = new URL(".tmp/errors/", import.meta.url);

/** The compiler's output for these statements, which have a limiter at hand. */
async function errorsOf(statements: string): Promise<string> {
  const config = { extends: "../../../../tsconfig.json", include: ["*.ts"], exclude: [] };
  await mkdir(PROJECT, { recursive: true });
  try {
    await writeFile(new URL("tsconfig.json", PROJECT), JSON.stringify(config));
    await writeFile(
      new URL("calls.ts", PROJECT),
      `import { createRateLimiter, memoryStore } from "../../../../server/index.js";
      const config = { kind: "token bucket", rate: 1, period: 1000 } as const;
      const limiter = createRateLimiter({ store: memoryStore(), limits: { signUp: config } });
      void limiter;
      ${statements}`,
    );
    const compiling = promisify(execFile)(process.execPath, [TSC, "-p", fileURLToPath(PROJECT)]);
    return (await compiling.catch((error: { stdout: string }) => error)).stdout;
  } finally {
    await rm(PROJECT, { recursive: true });
  }
}

it("quotes a misspelt name, with and without options, and in limitAll", async () => {
  const errors = await errorsOf(`
    void limiter.limit("a");
    void limiter.limit("b", { key: "k" });
    void limiter.reset("c");
    void limiter.limitAll([{ name: "d" }, { name: "signUp" }]);
    void limiter.limit("e", { config });
  `);
  const quoted = errors.match(/"\w"' is not assignable to (parameter of )?type '"signUp"'/g);
  expect(quoted?.map((message) => message[1])).toEqual(["a", "b", "c", "d"]);
  expect(errors).not.toContain("Expected 2 arguments");
});

it("quotes a misspelt name and option of a first in limitAll", async () => {
  const errors = await errorsOf(`
    void limiter.limitAll([{ name: "signUp" }, { first: ["a"] }]);
    void limiter.limitAll([{ name: "b" }, { first: ["signUp"] }]);
    void limiter.limitAll([{ name: "signUp" }, { first: ["signUp"], cuont: 2 }]);
  `);
  expect(errors.match(/error TS/g)).toHaveLength(3);
  for (const misspelt of [
    `'"a"' is not assignable`,
    `'"b"' is not assignable`,
    "'cuont' does not exist",
  ])
    expect(errors).toContain(misspelt);
  expect(errors).toContain('"signUp"');
});

it("says the names of all limits in few words, with and without options", async () => {
  const errors = await errorsOf(`
    const many = createRateLimiter({
      store: memoryStore(),
      limits: { signUp: config, logIn: config, render: { kind: "concurrency", slots: 2 } },
    });
    void many.limit("a");
    void many.limit("b", { key: "k" });
    void many.charge("c", { count: 2 });
    void many.check("d", { key: "k" });
    void many.limit("e", { config });
  `);
  const names = errors.match(/'"\w"' is not assignable to parameter of type '.*'\./g) ?? [];
  expect(names.map((message) => message.slice(1, 4))).toEqual(['"a"', '"b"', '"c"', '"d"']);
  for (const message of names) {
    expect(message).toContain('"signUp"');
    expect(message.length).toBeLessThan(100);
  }
  expect(errors).not.toContain("period");
});

it("complains about a misspelt name alone, and once, in each verb that also takes a config", async () => {
  const errors = await errorsOf(`
    void limiter.limit("a", { key: "k" });
    void limiter.check("a", { key: "k" });
    void limiter.charge("a", { key: "k" });
    void limiter.reset("a", { key: "k" });
    void limiter.getValue("a", { key: "k" });
    void limiter.acquire("a", { key: "k" });
    void limiter.refund("a", { key: "k" });
    void limiter.observe("a", { key: "k", remaining: 1 });
    void limiter.list("a", {});
    void limiter.configOf("a", { key: "k" });
    void limiter.limit("a", { config: undefined });
  `);
  const lines = errors.trim().split("\n");
  expect(lines).toHaveLength(11);
  for (const line of lines) expect(line).toMatch(/'"a"' is not assignable .*"signUp"/);
});

it("says which option of a call's own config does not go with its kind", async () => {
  const errors = await errorsOf(`
    void limiter.limit("a", { config: { ...config, start: 0 } });
    void limiter.limit("a", { config: { ...config, once: 1 } });
    void limiter.limit("a", { config: { kind: "sliding window", rate: 1, period: 1000 } });
  `);
  expect(errors).toContain('LeftOut<"a limit of kind \\"token bucket\\"">');
  expect(errors.match(/error TS/g)).toHaveLength(3);
});

it("names a misspelt option", async () => {
  const errors = await errorsOf(`void limiter.limit("signUp", { cuont: 1 });`);
  expect(errors).toContain("'cuont' does not exist in type 'LimitOptions");
});

it("says what a limit with a lease must not have", async () => {
  const errors = await errorsOf(`
    createRateLimiter({
      store: memoryStore(),
      limits: { hot: { ...config, lease: { ms: 100 }, blockFor: 1000 } },
    });
  `);
  expect(errors).toContain('LeftOut<"a limit with a lease">');
});

describe("plans", () => {
  const limits = `{
    pictures: { kind: "fixed window", period: "month", plans: { free: 5, pro: 50 } },
    signUp: config,
  }`;
  const planned = (option = "") => `
    const planned = createRateLimiter({
      store: memoryStore(),
      plans: ["free", "pro"],
      ${option}
      limits: ${limits} as const,
    });`;

  it("are quoted where a call says a wrong one, and asked for where it says none", async () => {
    const errors = await errorsOf(`${planned()}
      void planned.limit("pictures", { key: "k", plan: "por" });
      void planned.overrides.set("pictures", { key: "k", plan: "por" });
      void planned.check("pictures", { key: "k" });
      void planned.acquire("pictures");
      void planned.limitAll([{ name: "pictures", key: "k" }]);
      void planned.limitFirst(["pictures"], { key: "k" });
    `);
    const lines = errors.split("\n").filter((line) => line.includes("calls.ts("));
    expect(lines).toHaveLength(6);
    expect(lines[0]).toContain(`'"por"' is not assignable to type '"free" | "pro"'`);
    expect(lines[1]).toContain(`'"por"' is not assignable to type '"free" | "pro"`);
    expect(lines[3]).toContain("Expected 2 arguments, but got 1");
    expect(errors.match(/Property 'plan' is missing in type/g)?.length).toBeGreaterThanOrEqual(3);
  });

  it("do not go with a limit that has none, and are left out where the limiter says them", async () => {
    const errors =
      await errorsOf(`${planned(`plan: async ({ key, name }) => (key === name ? "pro" : "free"),`)}
      void planned.limit("pictures", { key: "k" });
      void planned.limit("pictures");
      void planned.limitAll([{ name: "pictures", key: "k" }, { name: "signUp" }]);
      void planned.limitFirst(["pictures"]);
      void planned.limit("signUp", { key: "k", plan: "pro" });
    `);
    expect(errors.match(/error TS/g)).toHaveLength(1);
    expect(errors).toContain("'plan' does not exist in type 'LimitOptions");
  });

  it("are the same in each limit, which has no rate of its own", async () => {
    const bucket = `kind: "token bucket", period: 1000`;
    const made = (config: string, of = `plans: ["free", "pro"],`) =>
      `createRateLimiter({ store: memoryStore(), ${of} limits: { a: { ${bucket}, ${config} } } });`;
    const errors = await errorsOf(
      [
        made("plans: { free: 1 }"),
        made("plans: { free: 1, pro: 2, max: 3 }"),
        made("plans: { free: 1, pro: 2 }", ""),
        made("rate: 1, plans: { free: 1, pro: 2 }"),
        made(`plans: { free: 1, pro: 2 }`, `plans: ["free", "pro"], plan: () => "max",`),
      ].join("\n"),
    );
    expect(errors).toContain("Property 'pro' is missing in type '{ free: 1; }'");
    expect(errors).toContain('LeftOut<"a limiter whose plans do not name it">');
    expect(errors).toContain('LeftOut<"a limit with plans">');
    expect(errors).toMatch(/"max".* is not assignable to .*"free"/);
    const lines = errors.split("\n").filter((line) => line.includes("calls.ts("));
    expect(new Set(lines.map((line) => /\((\d+)/.exec(line)![1])).size).toBe(5);
  });
});
