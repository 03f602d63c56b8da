import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../example-app/server/database.js";
import { createLimiter } from "../../example-app/server/limits.js";

it("a call waits for another writer of the file without blocking the process", async () => {
  const folder = await mkdtemp(join(tmpdir(), "busy-"));
  const url = `file:${join(folder, "demo.db")}`;
  const [writer, prisma] = [await openDatabase(url), await openDatabase(url)];
  onTestFinished(async () => {
    await Promise.all([writer.$disconnect(), prisma.$disconnect()]);
    await rm(folder, { recursive: true, force: true });
  });
  const limiter = createLimiter(prisma);
  await limiter.check("sendMessage", { key: "ada" });
  // It ends by a timer of this process, which has to run while the call waits.
  const writing = writer.$transaction(async (tx) => {
    await tx.message.deleteMany();
    await setTimeout(300);
  });
  await setTimeout(50);
  expect(await limiter.limit("sendMessage", { key: "ada" })).toMatchObject({ ok: true });
  await writing;
});
