/** The recipes, run as they stand on the page. */
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { HOUR, SECOND } from "../../server/index.js";
import { openPage } from "../support/docs-module.js";
import { blocksOf, readPage, ROOT } from "./pages.js";

const PAGE = "docs/recipes.md";
const open = () => openPage(PAGE, "guides/recipes");
/** A Saturday. */
const T = Date.UTC(2030, 5, 1);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: T });
});
afterEach(() => {
  vi.useRealTimers();
});

/** What the recipes export, as far as the tests use it. */
interface Router<TProcedure extends string> {
  createCaller(context: object): Record<TProcedure, () => Promise<string>>;
}
interface Limits {
  limiter: {
    limit(name: string, options: { key: string; throws?: boolean }): Promise<{ ok: boolean }>;
  };
}
interface Overrides extends Record<"giveMore" | "exempt" | "ban", (key: string) => Promise<void>> {
  asBefore(key: string): Promise<boolean>;
  halve(): Promise<void>;
}

async function openOverrides(): Promise<Limits & Overrides> {
  const load = await open();
  const overrides = await load<Overrides>("server/overrides.ts");
  return { ...(await load<Limits>("server/limits.ts")), ...overrides };
}

/** Whether each of so many calls in a row was granted. */
async function granted(times: number, call: () => Promise<unknown>): Promise<boolean[]> {
  const answers: boolean[] = [];
  for (let i = 0; i < times; i++) {
    answers.push(
      await call().then(
        (answer) => (answer as { ok?: boolean }).ok ?? true,
        (error: { code?: string }) => {
          expect(error.code).toBe("TOO_MANY_REQUESTS");
          return false;
        },
      ),
    );
  }
  return answers;
}

it("exempts an administrator by a role, and no other user", async () => {
  const load = await open();
  const { messageRouter } = await load<{ messageRouter: Router<"send"> }>("server/exempt.ts");
  const admin = messageRouter.createCaller({ userId: "ann", isAdmin: true });
  const user = messageRouter.createCaller({ userId: "ben", isAdmin: false });
  expect(await granted(5, () => admin.send())).toEqual([true, true, true, true, true]);
  expect(await granted(5, () => user.send())).toEqual([true, true, true, false, false]);
});

it("exempts a user by name", async () => {
  const { limiter, exempt } = await openOverrides();
  await exempt("ann");
  const send = () => limiter.limit("sendMessage", { key: "ann" });
  expect(await granted(5, send)).toEqual([true, true, true, true, true]);
});

it("says who is limited now, and for how long", async () => {
  const load = await open();
  const { limiter } = await load<Limits>("server/limits.ts");
  const { limitedNow } = await load<{ limitedNow(): Promise<object[]> }>("server/limited-now.ts");
  for (let i = 0; i < 3; i++) await limiter.limit("sendMessage", { key: "ann" });
  await limiter.limit("sendMessage", { key: "ben" });
  expect(await limitedNow()).toEqual([{ userId: "ann", retryAfter: 6 * SECOND }]);
});

it("gives one customer more, and ends that", async () => {
  const { limiter, giveMore, asBefore } = await openOverrides();
  const grants = async (key: string, times: number) =>
    (await granted(times, () => limiter.limit("sendMessage", { key }))).filter(Boolean).length;
  await giveMore("ann");
  expect(await grants("ann", 20)).toBe(9);
  expect(await grants("ben", 20)).toBe(3);
  await giveMore("carl");
  expect(await asBefore("carl")).toBe(true);
  expect(await grants("carl", 20)).toBe(3);
});

it("bans a user for an hour, and ends a ban", async () => {
  const { limiter, ban, asBefore } = await openOverrides();
  const send = (key: string) => limiter.limit("sendMessage", { key });
  await ban("ann");
  expect(await send("ann")).toMatchObject({ ok: false, retryAfter: HOUR });
  expect(await send("ben")).toMatchObject({ ok: true });
  vi.setSystemTime(T + HOUR);
  expect(await send("ann")).toMatchObject({ ok: true });
  await ban("ann");
  expect(await asBefore("ann")).toBe(true);
  expect(await send("ann")).toMatchObject({ ok: true });
});

it("limits all procedures together, and one of them further", async () => {
  const { appRouter } = await (
    await open()
  )<{ appRouter: Router<"read" | "send"> }>("server/all-procedures.ts");
  const ann = appRouter.createCaller({ userId: "ann" });
  expect(await granted(4, () => ann.send())).toEqual([true, true, true, false]);
  expect(await granted(2, () => ann.read())).toEqual([true, false]);
});

it("halves a limit for all users, for an hour", async () => {
  const { limiter, halve } = await openOverrides();
  const atOnce = async (key: string) => {
    const answers = await granted(25, () => limiter.limit("sendMessage", { key }));
    return answers.filter(Boolean).length;
  };
  await halve();
  expect(await atOnce("ann")).toBe(1);
  vi.setSystemTime(T + HOUR);
  expect(await atOnce("ben")).toBe(3);
});

describe("from CommonJS", () => {
  const run = promisify(execFile);
  /**
   * Within the repository, so that the package's own name resolves to it, and not in the folder that
   * `code-blocks.test.ts` empties meanwhile.
   */
  async function writeFiles(files: Record<string, string>): Promise<string> {
    const folder = join(ROOT, "test/support/.tmp", crypto.randomUUID());
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    return folder;
  }

  it("is required by Node.js", async () => {
    const blocks = blocksOf(await readPage(PAGE));
    const { code } = blocks.find(({ language }) => language === "js")!;
    const main = `const { limiter } = require("./limits.cjs");
      const send = () => limiter.limit("sendMessage", { key: "ann" });
      (async () => { for (let i = 0; i < 4; i++) console.log((await send()).ok); })();`;
    const folder = await writeFiles({ "limits.cjs": code, "main.cjs": main });
    const { stdout } = await run(process.execPath, [join(folder, "main.cjs")]);
    expect(stdout.trim().split("\n")).toEqual(["true", "true", "true", "false"]);
  });

  it.each(["nodenext", "node20"])("is imported by TypeScript, with module: %s", async (module) => {
    const code =
      'import { MINUTE } from "trpc-rate-limit/server";\nexport const ms: number = MINUTE;';
    const options = { noEmit: true, strict: true, skipLibCheck: true, types: ["node"], module };
    const folder = await writeFiles({
      "limits.cts": code,
      "tsconfig.json": JSON.stringify({ compilerOptions: options, include: ["*.cts"] }),
    });
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    await expect(run(process.execPath, [tsc, "-p", folder])).resolves.toMatchObject({ stdout: "" });
  });
});
