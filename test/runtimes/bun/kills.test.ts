/** Two processes of Bun on one database, one of which is killed without notice. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
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
/** So many that the other process is killed long before they are spent. */
const CAPACITY = 5000;
const CALLERS = 8;

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
  /** Resolves after this many grants of this process. */
  granted(count: number): Promise<void>;
  /** Resolves with the exit code, and with `null` if it was killed. */
  closed: Promise<number | null>;
}

function start(kind: StoreKind, url: string): Granting {
  const args = [GRANTS, kind, url, String(CAPACITY), "20"];
  const child = spawn(bun!, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let check = () => {};
  const granting: Granting = {
    child,
    grants: 0,
    granted: (count) =>
      new Promise<void>((resolve, reject) => {
        check = () => {
          if (granting.grants >= count) resolve();
        };
        child.once("close", () => reject(new Error(`it ended after ${granting.grants} grants`)));
        check();
      }),
    closed: once(child, "close").then(([code]) => code as number | null),
  };
  child.stdout.on("data", (chunk: Buffer) => {
    granting.grants += chunk.length;
    check();
  });
  return granting;
}

describe.skipIf(bun === undefined)("when one of two processes of Bun is killed", () => {
  it.each(clients)(
    "the other one grants what is left, and not more, through %s",
    async (kind, create) => {
      await using database = await create();
      const [killed, survivor] = [start(kind, database.url), start(kind, database.url)];
      await Promise.all([killed.granted(50), survivor.granted(50)]);
      killed.child.kill("SIGKILL");
      expect(await killed.closed).toBe(null);
      const before = survivor.grants;
      expect(killed.grants + before).toBeLessThan(CAPACITY);
      expect(await survivor.closed).toBe(0);

      expect(survivor.grants).toBeGreaterThan(before);
      const granted = killed.grants + survivor.grants;
      expect(granted).toBeLessThanOrEqual(CAPACITY);
      // What its callers were granted may not have been printed.
      expect(granted).toBeGreaterThanOrEqual(CAPACITY - CALLERS);
    },
  );
});

if (bun === undefined) it("two processes of Bun with a kill", ({ skip }) => skip(NO_BUN));
