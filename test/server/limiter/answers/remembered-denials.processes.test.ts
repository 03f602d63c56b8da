/**
 * `rememberDenials` in processes that share a database: one process resets, and the others do not know of
 * it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { HOUR } from "../../../../server/index.js";
import { bundleProgram } from "../../../support/bundle-program.js";
import { createMysql, createPostgres, mysqlUrl } from "../../../support/database.js";
import type { StoreKind } from "../../../support/open-store.js";

const PROCESS = await bundleProgram(
  new URL("../../../support/remember-denials.ts", import.meta.url),
);
const BRIEFLY = 700;

interface Answer {
  ok?: boolean;
  remembered?: boolean;
  lastKnownAt?: number;
  doneAt?: number;
}

/** Starts a process. It ends with the test. */
function start(kind: StoreKind, url: string, ms: number, channel: string) {
  const args = [PROCESS, kind, url, String(ms), channel];
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    child.stdin!.end();
    if (child.exitCode === null) await once(child, "exit");
  });
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  return async (act: string): Promise<Answer> => {
    child.stdin!.write(`${act}\n`);
    const { value } = (await lines.next()) as { value: string };
    return JSON.parse(value) as Answer;
  };
}

const kinds: StoreKind[] = ["pg", ...(mysqlUrl === undefined ? [] : (["mysql2"] as const))];

it.each(kinds)(
  "a reset by one process ends the denials of another at the latest after that time (%s)",
  async (kind) => {
    const database = await (kind === "pg" ? createPostgres() : createMysql());
    onTestFinished(() => database[Symbol.asyncDispose]());
    const { url } = database;
    const channel = kind === "pg" ? "channel" : "";
    const resetting = start(kind, url, 0, channel);
    const briefly = start(kind, url, BRIEFLY, "");
    const long = start(kind, url, HOUR, "");
    const told = start(kind, url, HOUR, channel);
    const all = [briefly, long, told];

    for (let i = 0; i < 5; i++) expect(await resetting("limit")).toMatchObject({ ok: true });
    for (const act of all) expect(await act("limit")).toMatchObject({ ok: false });
    for (const act of [long, told]) expect(await act("limit")).toMatchObject({ remembered: true });

    const granted = briefly("limit until granted");
    // A notification is not delivered to a process that does not listen yet, so there may be several.
    const heard = channel === "" ? undefined : told("limit until granted");
    const { doneAt } = await resetting("reset");
    const { lastKnownAt = -Infinity } = await granted;
    expect(lastKnownAt).toBeLessThan(doneAt! + BRIEFLY);
    let isOver = heard === undefined;
    void heard?.then(() => (isOver = true));
    while (!isOver) await resetting("reset");
    // It hears nothing, so it goes by its memory.
    expect(await long("limit")).toMatchObject({ ok: false, remembered: true });
  },
  60_000,
);
