/** The URL that `verify` reads, and what it says of one that it cannot use. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { findTarget } from "../../../cli/verify/find-target.js";

const CANNOT_BE_READ = /^the URL of the database cannot be read; in its user and password, write %/;

describe("the database of verify", () => {
  it.each([
    ["a slash in the password", "postgresql://ann:Zq8x/of@db/app", CANNOT_BE_READ],
    ["a slash after digits in it", "postgresql://ann:81/Zq8x@db/app", CANNOT_BE_READ],
    ["a number sign in it", "postgresql://ann:81#Zq8x@db/app", CANNOT_BE_READ],
    ["a question mark in it", "mysql://ann:81?Zq8x@db/app", CANNOT_BE_READ],
    ["a percent sign in it", "mysql://ann:81%Zq8x@db/app", CANNOT_BE_READ],
    ["a percent sign in that of Redis", "redis://ann:81%Zq8x@db", CANNOT_BE_READ],
    ["a slash in that of Redis", "redis://:81/Zq8x@db", CANNOT_BE_READ],
    ["a protocol of another database", "mongodb://ann:Zq8x@db/app", /or rediss:$/],
    ["a protocol of HTTP", "https://Zq8x.turso.io", /file:, libsql:, redis: or rediss:$/],
    ["no database of MySQL", "mysql://ann:Zq8x@db", /names no database, as in mysql:/],
    ["a name as the database of Redis", "redis://:Zq8x@db/app", /has to end in the number of/],
  ])("is refused for %s, and the message has no part of the URL", async (_, url, message) => {
    const refused = findTarget("/", url);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.not.toThrow(/Zq8x|81|\bann\b/);
  });

  it("may have a percent sign that encodes nothing, for clients of PostgreSQL", async () => {
    await expect(findTarget("/", "postgresql://ann:p%ss@db/app")).resolves.toBeDefined();
  });

  it("is read from a file with the line ends of Windows, also if it is Redis", async () => {
    vi.stubEnv("DATABASE_URL", "");
    const folder = await mkdtemp(join(tmpdir(), "verify-"));
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await rm(folder, { recursive: true });
    });
    await writeFile(join(folder, ".env"), '\uFEFFA=1\r\nDATABASE_URL="redis://db/2"\r\nB=2\r\n');
    expect(await findTarget(folder, undefined)).toEqual({
      kind: "redis",
      url: "redis://db/2",
      shown: "redis://db/2",
    });
    await writeFile(join(folder, ".env"), "\uFEFFDATABASE_URL=mysql://db/app\r\n");
    expect(await findTarget(folder, undefined)).toMatchObject({ url: { url: "mysql://db/app" } });
  });
});
