// @vitest-environment jsdom
/**
 * The guides to oRPC, Elysia and NestJS: their servers over HTTP, and their buttons on a page. The code of
 * a page is that of `test/hosts/guides`, which `code-blocks.test.ts` compares.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { EventSource } from "eventsource";
import type { ComponentType, ReactNode } from "react";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ROOT } from "./pages.js";
import { type Host, serveFetch } from "../support/serve-fetch.js";
import { soon } from "../support/soon.js";

const FOLDER = join(ROOT, "test/hosts/");
const isInstalled = existsSync(`${FOLDER}node_modules/elysia`);

interface Page {
  SendButton: ComponentType;
  RateLimitProvider: ComponentType<{ children: ReactNode }>;
}

async function load<T>(path: string): Promise<T> {
  return (await import(/* @vite-ignore */ `${FOLDER}guides/${path}`)) as T;
}

/** The server of each guide, the request that it limits, and the module of its hooks. */
const guides = [
  {
    name: "oRPC",
    async start(): Promise<Host> {
      const { serve } = await load<{ serve(request: Request): Promise<Response> }>(
        "orpc/server/serve.ts",
      );
      return serveFetch(serve);
    },
    send: ["/rpc/sendMessage", "{}"],
    denied: { json: { code: "TOO_MANY_REQUESTS", data: { rateLimit: { name: "sendMessage" } } } },
    page: ["orpc/client/send-button.tsx", "orpc/client/send-button.tsx"],
  },
  {
    name: "Elysia",
    async start(): Promise<Host> {
      const { app } = await load<{ app: { fetch(request: Request): Promise<Response> } }>(
        "elysia/server/app.ts",
      );
      return serveFetch((request) => app.fetch(request));
    },
    send: ["/messages", ""],
    denied: { kind: "RateLimited", name: "sendMessage" },
    page: ["elysia/client/limits.ts", "elysia/client/send-button.tsx"],
  },
  {
    name: "NestJS",
    async start(): Promise<Host> {
      vi.stubEnv("PORT", "0");
      const { app } = await load<{ app: { getHttpServer(): Server; close(): Promise<void> } }>(
        "nestjs/server/main.ts",
      );
      const server = app.getHttpServer();
      return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        async [Symbol.asyncDispose]() {
          server.closeAllConnections();
          await app.close();
        },
      };
    },
    send: ["/messages", ""],
    denied: { kind: "RateLimited", name: "sendMessage" },
    page: ["nestjs/client/limits.ts", "nestjs/client/send-button.tsx"],
  },
] as const;

afterEach(() => {
  cleanup();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

/** As in a browser whose page came from this server. */
function visit(url: string): void {
  const absolute = (path: string | URL | Request) =>
    path instanceof Request ? path : new URL(path, url);
  const { fetch } = globalThis;
  vi.stubGlobal("location", new URL(url));
  vi.stubGlobal("fetch", (path: string | URL | Request, init?: RequestInit) =>
    fetch(absolute(path), init),
  );
  vi.stubGlobal(
    "EventSource",
    class extends EventSource {
      constructor(path: string | URL) {
        super(absolute(path) as URL);
      }
    },
  );
}

describe.skipIf(!isInstalled).each(guides)(
  "the guide to $name",
  ({ start, send, denied, page }) => {
    it("lets three requests pass, denies the fourth, and shows that on the page", async () => {
      const host = await start();
      onTestFinished(() => host[Symbol.asyncDispose]() as Promise<void>);
      visit(host.url);
      // One after the other: at once, a busy Vitest may load the module of the hooks twice.
      const { RateLimitProvider } = await load<Page>(page[0]);
      const { SendButton } = await load<Page>(page[1]);
      render(
        <RateLimitProvider>
          <SendButton />
        </RateLimitProvider>,
      );
      const button = await soon(() => screen.getByRole("button", { name: "Send" }));
      await soon(() => expect(button.dataset["state"]).toBe("ready"));
      // Two by others, of which the page learns by its stream, and one by the page.
      const post = () =>
        fetch(send[0], {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          ...(send[1] !== "" && { body: send[1] }),
        });
      for (let i = 0; i < 2; i++) expect((await post()).ok).toBe(true);
      expect(button.dataset["state"]).toBe("ready");
      await act(async () => void fireEvent.click(button));
      await soon(() => expect(button.dataset["state"]).toBe("waiting"));
      await soon(async () => {
        const response = await post();
        expect(response.status).toBe(429);
        expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(1);
        expect(await response.json()).toMatchObject(denied);
      });
      expect(button.textContent).toMatch(/Wait/);
    });
  },
);

it("compiles with their frameworks", { timeout: 60_000 }, async ({ skip }) => {
  if (!isInstalled) skip("needs npm run install:test-projects");
  const tsc = [`${ROOT}node_modules/typescript/bin/tsc`, "-p", `${FOLDER}tsconfig.json`];
  const { stdout } = await promisify(execFile)(process.execPath, tsc).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe("");
});
