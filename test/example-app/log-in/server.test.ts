import { expect, it } from "vitest";
import { createAppRouter } from "../../../example-app/shared/server/router.js";
import { openExampleDatabase } from "../../support/example-database.js";

async function openExample() {
  const { prisma } = await openExampleDatabase();
  const router = createAppRouter(prisma);
  return (visitor: string) => {
    const caller = router.createCaller({ visitor, process: 1 });
    return {
      attempt: (password: string, account = "demo") => caller.logIn.attempt({ account, password }),
      status: (key?: string) => caller.rateLimit.status({ name: "logIn", key }),
    };
  };
}

it("charges for wrong passwords, and forgets them after the right one", async () => {
  const visitor = await openExample();
  const { attempt, status } = visitor("ada");
  for (const value of [4, 3]) {
    await expect(attempt("wrong")).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    expect(Math.floor((await status("demo")).value)).toBe(value);
  }
  expect(await attempt("open sesame")).toEqual({ account: "demo" });
  expect((await status("demo")).value).toBe(5);
});

it("closes the account to the sixth attempt, for this visitor alone", async () => {
  const visitor = await openExample();
  const { attempt, status } = visitor("ada");
  for (let i = 0; i < 5; i++) {
    await expect(attempt("wrong")).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  }
  await expect(attempt("open sesame")).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
  const { value, closedUntil, now } = await status("demo");
  expect(value).toBe(0);
  expect(closedUntil! - now).toBeGreaterThan(24_000);
  expect(closedUntil! - now).toBeLessThanOrEqual(30_000);
  expect(await visitor("bob").attempt("open sesame")).toEqual({ account: "demo" });
});

it("treats an account that does not exist like one that does", async () => {
  const { attempt } = (await openExample())("ada");
  for (let i = 0; i < 5; i++) {
    await expect(attempt("open sesame", "nobody")).rejects.toMatchObject({
      code: "UNAUTHORIZED",
      message: "Wrong account or password",
    });
  }
  await expect(attempt("open sesame", "nobody")).rejects.toMatchObject({
    code: "TOO_MANY_REQUESTS",
  });
});

it("tells a page about the demo account of its own visitor, and about no other", async () => {
  const { status } = (await openExample())("ada");
  expect(await status("demo")).toMatchObject({ name: "logIn", key: "demo", value: 5 });
  for (const key of [undefined, "admin", "demo:bob"]) {
    await expect(status(key)).rejects.toMatchObject({ code: "BAD_REQUEST" });
  }
});
