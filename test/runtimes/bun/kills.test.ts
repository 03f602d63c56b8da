/** Two processes of Bun on one database. One process is killed without notice. */
import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { bun, NO_BUN } from "../../support/bun.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  mysqlUrl,
  type TestDatabase,
} from "../../support/database.js";
import type { StoreKind } from "../../support/open-store.js";

const GRANTS = fileURLToPath(new URL("run/grants.ts", import.meta.url));
/** So many tokens that a process is killed long before they are used up. */
const CAPACITY = 5000;
const CALLERS = 8;
const DOT = ".".charCodeAt(0);

const clients: [kind: StoreKind, create: () => Promise<TestDatabase>][] = [
  ["bun:sqlite", createSqlite],
  ["bun sql pg", () => createPostgres()],
];
if (mysqlUrl === undefined) {
  it("a killed process of Bun, on MySQL or MariaDB", ({ skip }) =>
    skip("TEST_MYSQL_URL is not set"));
} else clients.push(["bun sql mysql", () => createMysql()]);

interface Granting {
  child: ChildProcess;
  grants: number;
  /** Resolves when the process is connected. Rejects, as `granted` does, if the process ends before. */
  ready: Promise<void>;
  begin(): void;
  /** Resolves with this process after it has granted this many calls. */
  granted(count: number): Promise<Granting>;
  /** Resolves with the exit code, and with `null` if it was killed. */
  closed: Promise<number | null>;
}

function start(kind: StoreKind, url: string): Granting {
  const args = [GRANTS, kind, url, String(CAPACITY), "20"];
  const child = spawn(bun!, args, { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const printed = new EventEmitter();
  const ended = new AbortController();
  child.once("close", () => ended.abort());
  const granting: Granting = {
    child,
    grants: 0,
    ready: once(printed, "ready", ended).then(() => {}),
    begin: () => void child.stdin.write("\n"),
    granted: async (count) => {
      while (granting.grants < count) await once(printed, "grants", ended);
      return granting;
    },
    closed: once(child, "close").then(([code]) => code as number | null),
  };
  child.stdout.on("data", (chunk: Buffer) => {
    if (chunk.includes("\n")) printed.emit("ready");
    granting.grants += chunk.filter((byte) => byte === DOT).length;
    printed.emit("grants");
  });
  return granting;
}

describe.skipIf(bun === undefined)("when one of two processes of Bun is killed", () => {
  it.each(clients)(
    "the other one grants what is left, and not more, through %s",
    async (kind, create) => {
      await using database = await create();
      const both = [start(kind, database.url), start(kind, database.url)] as const;
      await Promise.all(both.map((process) => process.ready));
      for (const process of both) process.begin();
      // SQLite may let one process call for long before the other process gets its turn.
      const killed = await Promise.race(both.map((process) => process.granted(50)));
      const survivor = both[killed === both[0] ? 1 : 0];
      killed.child.kill("SIGKILL");
      expect(await killed.closed).toBe(null);
      const before = survivor.grants;
      expect(killed.grants + before).toBeLessThan(CAPACITY);
      expect(await survivor.closed).toBe(0);

      expect(survivor.grants).toBeGreaterThan(before);
      const granted = killed.grants + survivor.grants;
      expect(granted).toBeLessThanOrEqual(CAPACITY);
      // The last grant of each caller of the killed process may not have been printed.
      expect(granted).toBeGreaterThanOrEqual(CAPACITY - CALLERS);
    },
  );
});

if (bun === undefined) it("two processes of Bun with a kill", ({ skip }) => skip(NO_BUN));
