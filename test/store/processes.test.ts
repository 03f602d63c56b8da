import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createSqlite } from "../support/database.js";

const HAMMER = fileURLToPath(new URL("../support/hammer.ts", import.meta.url));

async function hammer(url: string, calls: number, atOnce: number): Promise<number> {
  const args = ["--import", "tsx", HAMMER, url, String(calls), String(atOnce)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
}

describe("several processes on one SQLite file", () => {
  it.each([1, 8])("pass exactly 37 calls together, %i at once each", async (atOnce) => {
    await using database = await createSqlite();
    const passed = await Promise.all([1, 2, 3].map(() => hammer(database.url, 100, atOnce)));
    expect(passed.reduce((sum, each) => sum + each, 0)).toBe(37);
    const row = await database.prisma.rateLimit.findFirstOrThrow();
    expect(row.value).toBeGreaterThanOrEqual(0);
    expect(row.value).toBeLessThan(1);
  });
});
