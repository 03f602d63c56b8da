/** Attempts of a hostile client. Each one is rejected with a clear error, and costs nothing. */
import { beforeEach, describe, expect, it } from "vitest";
import { startApp } from "../support/app.js";

type App = Awaited<ReturnType<typeof startApp>>;

interface Answer {
  status: number;
  body: { error?: { message: string; data: { code: string } }; result?: { data: unknown } };
}

async function call(app: App, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${app.server.url}/${path}`, {
    ...init,
    headers: { "content-type": "application/json", "x-user": "mallory", ...init.headers },
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const query = (app: App, path: string, input: unknown) =>
  call(app, `${path}?input=${encodeURIComponent(JSON.stringify(input))}`);

const mutate = (app: App, path: string, body: string) => call(app, path, { method: "POST", body });

describe("a hostile client", () => {
  let app: Awaited<ReturnType<typeof startApp>>;
  beforeEach(async () => {
    app = await startApp();
    return () => app[Symbol.asyncDispose]();
  });

  it.each([
    ["no JSON", "{ text: hi", 400, "BAD_REQUEST"],
    ["the wrong type", JSON.stringify({ text: 7 }), 400, "BAD_REQUEST"],
    ["nothing", "", 400, "BAD_REQUEST"],
    ["more than allowed", JSON.stringify({ text: "x".repeat(101) }), 400, "BAD_REQUEST"],
    ["a prototype", '{"__proto__":{"text":"hi"}}', 400, "BAD_REQUEST"],
  ])("is charged nothing for sending %s", async (_what, body, status, code) => {
    const answer = await mutate(app, "send", body);
    expect(answer.status).toBe(status);
    expect(answer.body.error?.data.code).toBe(code);
    expect(answer.body.error?.message).not.toBe("");
    expect(await app.rows()).toEqual([]);
  });

  it.each(["nope", "__proto__", "constructor", "toString", "", "sendMessage ", "SENDMESSAGE"])(
    "gets an error for the limit name %j",
    async (name) => {
      for (const procedure of ["status", "check"]) {
        const { status, body } = await query(app, `rateLimit.${procedure}`, { name });
        expect(status).toBe(400);
        expect(body.error?.message).toContain("expected one of");
      }
    },
  );

  it("cannot read another user's bucket, and gets an error instead of its own", async () => {
    await app.as("ada").send.mutate({ text: "hi" });
    const answer = await query(app, "rateLimit.status", { name: "sendMessage", key: "ada" });
    expect(answer.status).toBe(400);
    expect(answer.body.error?.message).toBe(
      'This caller may not use the requested key of rate limit "sendMessage"',
    );
    const team = { name: "teamQuota", key: "team of ada" };
    expect((await query(app, "rateLimit.status", team)).status).toBe(400);
    expect(
      await app.as("ada").rateLimit.status.query({ ...team, name: "teamQuota" }),
    ).toMatchObject({ key: "team of ada", value: 5 });
  });

  it("cannot bring a config", async () => {
    const config = { kind: "token bucket", rate: 1e9, period: 1 };
    const { status, body } = await query(app, "rateLimit.check", { name: "sendMessage", config });
    expect(status).toBe(400);
    expect(body.error?.message).toContain("Unrecognized key");
  });

  it.each([
    ["a key of 10,000 characters", { key: "k".repeat(10_000) }, "at most 191"],
    ["an empty key", { key: "" }, "must not be empty"],
    ["a key with a NUL", { key: "a\0b" }, "no NUL"],
    ["a key with a lone surrogate", { key: "a\ud800" }, "no lone surrogate"],
    ["a negative count", { count: -1 }, ">=0"],
    ["a count that is not a number", { count: "1" }, "expected number"],
  ])("gets an error that says what is wrong with %s", async (_what, options, message) => {
    const { status, body } = await query(app, "rateLimit.status", {
      name: "sendMessage",
      ...options,
    });
    expect(status).toBe(400);
    expect(body.error?.message).toContain(message);
    expect(body.error!.message.length).toBeLessThan(1000);
  });

  it("gets 413 for a count that no wait could satisfy", async () => {
    for (const procedure of ["status", "check"]) {
      const input = { name: "sendMessage", count: 4 };
      expect((await query(app, `rateLimit.${procedure}`, input)).status).toBe(413);
    }
  });

  it("can neither drain nor reset a bucket, and an admin can do only what authorize allows", async () => {
    await app.as("ada").send.mutate({ text: "hi" });
    const before = await app.rows();
    for (const action of ["limit", "reset"]) {
      const answer = await mutate(app, `rateLimit.${action}`, '{"name":"sendMessage"}');
      expect(answer.status).toBe(403);
      expect(answer.body.error?.message).toBe(
        `This caller may not use "${action}" on rate limit "sendMessage"`,
      );
    }
    const admin = app.as("admin");
    await expect(admin.rateLimit.limit.mutate({ name: "sendMessage" })).rejects.toThrow("may not");
    expect(await app.rows()).toEqual(before);
    await admin.rateLimit.reset.mutate({ name: "sendMessage" });
  });

  it("cannot subscribe to 10,000 items, nor to a prototype", async () => {
    const ask = async (items: unknown[]) => {
      const response = await fetch(
        `${app.server.url}/rateLimit.watch?input=${encodeURIComponent(JSON.stringify({ items }))}`,
        { headers: { accept: "text/event-stream" } },
      );
      // The stream ends with an error that says what is wrong.
      return response.text();
    };
    const many = Array.from({ length: 10_000 }, () => ({ name: "sendMessage" }));
    // Node rejects such a long request line before tRPC receives it.
    await expect(ask(many)).resolves.not.toContain('"value"');
    for (const items of [many.slice(0, 300), [{ name: "__proto__" }], [], [{ name: "x" }]]) {
      const text = await ask(items);
      expect(text).toContain("BAD_REQUEST");
      expect(text).not.toContain('"value"');
    }
    expect(app.server.open("rateLimit.watch")).toBe(0);
    for (const name of ["__proto__", "constructor"]) {
      for (const action of ["limit", "reset"]) {
        const body = `{"name":"${name}"}`;
        expect((await mutate(app, `rateLimit.${action}`, body)).status).toBe(400);
      }
    }
    expect(await app.rows()).toEqual([]);
  });

  it("cannot call mutations with GET", async () => {
    const { status } = await query(app, "send", { text: "hi" });
    expect(status).toBe(405);
    expect(await app.rows()).toEqual([]);
  });
});
