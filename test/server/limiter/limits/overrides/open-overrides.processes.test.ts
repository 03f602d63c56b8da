/** Overrides in processes that share a database: one process sets them, and the others must obey. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { HOUR } from "../../../../../server/index.js";
import { bundleProgram } from "../../../../support/bundle-program.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  mysqlUrl,
} from "../../../../support/database.js";
import type { StoreKind } from "../../../../support/open-store.js";
import { createRedisRows, redisUrl } from "../../../../support/redis-rows.js";

const PROCESS = await bundleProgram(
  new URL("../../../../support/obey-overrides.ts", import.meta.url),
);
const BRIEFLY = 300;

interface Answer {
  ok?: boolean;
  isBlocked?: boolean;
  lastAt?: number;
  doneAt?: number;
}

/** Starts a process. It ends with the test. */
function start(kind: StoreKind, url: string, overridesFor: number, channel = "") {
  const args = [PROCESS, kind, url, String(overridesFor), channel];
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  onTestFinished(async () => {
    child.stdin!.end();
    await exit;
  });
  child.stdin!.on("error", () => {});
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  return {
    async act(line: string): Promise<Answer> {
      child.stdin!.write(`${line}\n`);
      const { value } = (await lines.next()) as { value: string };
      return JSON.parse(value) as Answer;
    },
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await exit;
    },
  };
}

const kinds: [StoreKind, () => Promise<{ url: string } & AsyncDisposable>][] = [
  ["sqlite", createSqlite],
  ["pg", () => createPostgres()],
  ["postgresql", () => createPostgres()],
];
if (mysqlUrl !== undefined) kinds.push(["mysql2", () => createMysql()]);
if (redisUrl !== undefined) kinds.push(["redis", () => Promise.resolve(createRedisRows())]);

async function open(create: (typeof kinds)[number][1]): Promise<string> {
  const database = await create();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database.url;
}

it.each(kinds)(
  "every process obeys a change after overridesFor, and what a killed one has left (%s)",
  async (kind, create) => {
    const url = await open(create);
    const setting = start(kind, url, HOUR);
    const others = [start(kind, url, BRIEFLY), start(kind, url, BRIEFLY)];
    for (const { act } of [setting, ...others])
      expect(await act("limit")).toMatchObject({ ok: true });
    for (const [change, answer] of [
      ["block", "limit until denied"],
      ["clear", "limit until granted"],
    ] as const) {
      const waiting = others.map(({ act }) => act(answer));
      const { doneAt } = await setting.act(change);
      for (const { lastAt = -Infinity } of await Promise.all(waiting)) {
        expect(lastAt).toBeLessThan(doneAt! + BRIEFLY);
      }
      // Its own process has obeyed before the change was done.
      expect((await setting.act("limit")).ok).toBe(change === "clear");
    }

    await setting.act("block and clear");
    for (let i = 0; i < 50; i++) await others[0]!.act("limit");
    await setting.kill();
    const { isBlocked } = await others[0]!.act("get");
    const answer = isBlocked ? "limit until denied" : "limit until granted";
    const late = start(kind, url, HOUR);
    expect(await late.act("limit")).toMatchObject({ ok: !isBlocked });
    for (const { act } of others) expect(await act(answer)).toMatchObject({ ok: !isBlocked });
    for (const { act } of others) expect(await act("limit")).toMatchObject({ ok: !isBlocked });
  },
  60_000,
);

it("a channel tells every process at once, however old its table may get", async () => {
  const url = await open(() => createPostgres());
  const [setting, told, deaf] = [
    start("pg", url, HOUR, "channel"),
    start("pg", url, HOUR, "channel"),
    start("pg", url, HOUR),
  ];
  for (const { act } of [setting, told, deaf]) await act("limit");
  for (const change of ["block", "clear"] as const) {
    const heard = told.act(change === "block" ? "limit until denied" : "limit until granted");
    let isOver = false;
    void heard.then(() => (isOver = true));
    // A notification is not delivered to a process that does not listen yet, so there may be several.
    do await setting.act(change);
    while (!isOver);
    expect(await heard).toMatchObject({ ok: change === "clear" });
  }
  await setting.act("block");
  // It hears nothing, so it goes by what it has read.
  expect(await deaf.act("limit")).toMatchObject({ ok: true });
}, 60_000);
