/** The type errors of a misspelt name, as the compiler words them. */
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

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

it("names a misspelt option", async () => {
  const errors = await errorsOf(`void limiter.limit("signUp", { cuont: 1 });`);
  expect(errors).toContain("'cuont' does not exist in type 'LimitOptions'");
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
