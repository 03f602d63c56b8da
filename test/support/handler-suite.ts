/** What every host does with the handler of `handler-app.ts`, over HTTP. */
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import type { RateLimitSnapshot } from "../../server/index.js";
import type { Host } from "./serve-fetch.js";
import { soon } from "./soon.js";

const JSON_TYPE = { "Content-Type": "application/json" };

/** A stream, with what it has received. */
export interface OpenStream {
  status: number;
  headers: Headers;
  values: number[];
  /** How many pings have arrived. */
  pings: number;
  /** Whether the stream has ended, for whatever reason. */
  isOver: boolean;
  close(): void;
}

/** @returns functions that send a caller's requests. */
export function clientOf(url: string, user: string | undefined, role?: string) {
  const headers: Record<string, string> = {
    ...(user !== undefined && { "x-user": user }),
    ...(role !== undefined && { "x-role": role }),
  };
  const get = (query: Record<string, string>, init: RequestInit = {}) =>
    fetch(`${url}?${new URLSearchParams(query)}`, { headers, ...init });
  const post = (body: unknown, init: RequestInit = {}) =>
    fetch(url, {
      method: "POST",
      headers: { ...headers, ...JSON_TYPE },
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...init,
    });

  async function watch(): Promise<OpenStream> {
    const connection = new AbortController();
    onTestFinished(() => connection.abort());
    const items = JSON.stringify([{ name: "send" }]);
    const response = await get({ action: "watch", items }, { signal: connection.signal, headers });
    const { status } = response;
    const stream: OpenStream = {
      status,
      headers: response.headers,
      values: [],
      pings: 0,
      isOver: false,
      close: () => connection.abort(),
    };
    const read = async () => {
      let text = "";
      const decoder = new TextDecoder();
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(chunk, { stream: true });
        const events = text.split("\n\n");
        text = events.pop()!;
        for (const event of events) {
          if (event.startsWith("event: ping")) stream.pings++;
          else stream.values.push((JSON.parse(dataOf(event)) as RateLimitSnapshot).value);
        }
      }
    };
    const over = () => void (stream.isOver = true);
    read().then(over, over);
    return stream;
  }
  return { get, post, watch };
}

const dataOf = (event: string) => /^data: (.*)$/m.exec(event)![1]!;

/** @param vanishes how long a closed stream may be counted, ms. */
export function itServesLimits(start: () => Promise<Host>, vanishes: number = 8_000): void {
  let host: Host;
  let isClosed = false;
  async function close(): Promise<void> {
    if (!isClosed) await host?.[Symbol.asyncDispose]();
    isClosed = true;
  }
  beforeAll(async () => void (host = await start()));
  afterAll(close);
  const as = (user?: string, role?: string) => clientOf(host.url, user, role);
  const send = { name: "send" };

  it("answers status, of one limit and of a list", async () => {
    const { get } = as("ada");
    const one = await get({ action: "status", ...send });
    expect(one.status).toBe(200);
    expect(one.headers.get("Cache-Control")).toBe("no-store");
    expect(one.headers.get("Content-Type")).toMatch(/^application\/json/);
    expect(await one.json()).toMatchObject({ name: "send", value: 3 });
    const items = JSON.stringify([send, { ...send, key: "bob" }]);
    const list = await get({ action: "status", items });
    expect(list.status).toBe(200);
    expect(await list.json()).toMatchObject([
      { snapshot: { name: "send", value: 3 } },
      { status: 400, error: { code: "BAD_REQUEST" } },
    ]);
  });

  it("answers check, and refuses a count that never fits", async () => {
    const { get } = as("ada");
    const granted = await get({ action: "check", ...send, count: "2" });
    expect(await granted.json()).toMatchObject({ ok: true });
    expect((await get({ action: "check", ...send, count: "4" })).status).toBe(413);
  });

  it("streams the first snapshot at once, and a change by another request", async () => {
    const stream = await as("reader").watch();
    expect(stream.status).toBe(200);
    expect(stream.headers.get("Content-Type")).toMatch(/^text\/event-stream/);
    expect(stream.headers.get("Cache-Control")).toMatch(/no-cache/);
    await soon(() => expect(stream.values).toEqual([3]));
    expect(stream.pings).toBeGreaterThan(0);
    expect((await as("reader", "admin").post({ action: "limit", ...send })).status).toBe(200);
    await soon(() => expect(stream.values).toEqual([3, 2]));
  });

  it("counts a stream until its client has left", async () => {
    const { watch } = as("watcher");
    const first = await watch();
    await soon(() => expect(first.values).toHaveLength(1));
    const refused = await watch();
    expect(refused.status).toBe(409);
    first.close();
    let admitted = refused;
    await expect
      .poll(
        async () => {
          admitted = await watch();
          return admitted.status;
        },
        { timeout: vanishes },
      )
      .toBe(200);
    await soon(() => expect(admitted.values).toEqual([3]));
  });

  it("counts no stream whose client has left before the first snapshot", async () => {
    const { get, watch } = as("hasty");
    const connection = new AbortController();
    const { signal } = connection;
    const headers = { "x-user": "hasty", "x-wait": "300" };
    const items = JSON.stringify([send]);
    const left = get({ action: "watch", items }, { signal, headers }).catch(() => "left");
    await new Promise((resolve) => setTimeout(resolve, 100));
    connection.abort();
    expect(await left).toBe("left");
    await new Promise((resolve) => setTimeout(resolve, 400));
    await expect.poll(async () => (await watch()).status, { timeout: vanishes }).toBe(200);
  });

  it("charges and resets for those whom authorize allows", async () => {
    const [visitor, admin] = [as("eve"), as("eve", "admin")];
    for (const action of ["limit", "reset"]) {
      const forbidden = await visitor.post({ action, ...send });
      expect(forbidden.status).toBe(403);
      expect(await forbidden.json()).toMatchObject({ code: "FORBIDDEN" });
    }
    const granted = await admin.post({ action: "limit", ...send, count: 2 });
    expect(await granted.json()).toMatchObject({ ok: true, value: 1 });
    const denied = await admin.post({ action: "limit", ...send, count: 2 });
    expect([denied.status, await denied.json()]).toMatchObject([200, { ok: false }]);
    const reset = await admin.post({ action: "reset", ...send });
    expect([reset.status, await reset.text()]).toEqual([204, ""]);
    expect(await (await visitor.get({ action: "status", ...send })).json()).toMatchObject({
      value: 3,
    });
  });

  it("refuses what is no request of a client", async () => {
    const { get, post } = as("ada", "admin");
    const wrong = await get({ action: "status", name: "nope" });
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { code: "BAD_REQUEST" }]);
    expect((await post("{ no JSON")).status).toBe(400);
    const body = JSON.stringify({ action: "limit", ...send });
    const headers = { "x-user": "ada", "x-role": "admin", "Content-Type": "text/plain" };
    expect((await post(body, { headers })).status).toBe(415);
    expect((await get({}, { method: "DELETE" })).status).toBe(405);
    expect((await get({ action: "status", ...send }, { method: "OPTIONS" })).status).toBeLessThan(
      500,
    );
    const head = await get({ action: "watch", items: '[{"name":"send"}]' }, { method: "HEAD" });
    expect(head.status).toBeLessThan(500);
    const long = `{"action":"limit","name":"send","key":"${"k".repeat(50_000)}"}`;
    expect((await post(long)).status).toBe(413);
  });

  it("answers with the response that the key function throws", async () => {
    const refused = await as().get({ action: "status", ...send });
    expect([refused.status, await refused.text()]).toEqual([401, "log in"]);
    expect(refused.headers.get("WWW-Authenticate")).toBe("Bearer");
    expect(refused.headers.getSetCookie()).toEqual(["session=; Max-Age=0", "theme=dark"]);
    expect((await as().watch()).status).toBe(401);
  });

  it("closes with an open stream", async () => {
    const stream = await as("last").watch();
    await soon(() => expect(stream.values).toEqual([3]));
    await close();
    await soon(() => expect(stream.isOver).toBe(true));
  });
}
