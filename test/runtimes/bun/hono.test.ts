import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bun, NO_BUN } from "../../support/bun.js";

const PROGRAM = fileURLToPath(new URL("run/hono.ts", import.meta.url));

describe.skipIf(bun === undefined)(`Hono's middleware in Bun (${NO_BUN})`, () => {
  it("lets exactly its tokens through, with their header fields", async () => {
    const server = spawn(bun!, [PROGRAM], { stdio: ["ignore", "pipe", "pipe"] });
    try {
      const url = await new Promise<string>((resolve, reject) => {
        let output = "";
        const read = (chunk: Buffer) => {
          output += chunk.toString();
          const [found] = /http:\/\/localhost:\d+/.exec(output) ?? [];
          if (found !== undefined) resolve(found);
        };
        server.stdout.on("data", read);
        server.stderr.on("data", read);
        server.once("exit", () => reject(new Error(output)));
      });
      const requests = Array.from({ length: 60 }, () => fetch(`${url}/?key=ada`));
      const answers = await Promise.all(requests);
      const denied = answers.filter(({ status }) => status === 429);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(37);
      expect(denied).toHaveLength(23);
      expect(denied[0]!.headers.get("Retry-After")).toMatch(/^[12]$/);
      expect(await denied[0]!.json()).toMatchObject({ kind: "RateLimited", name: "send" });
    } finally {
      server.kill();
      await once(server, "exit");
    }
  });
});
