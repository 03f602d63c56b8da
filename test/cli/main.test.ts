/** The command, when the reader of its output ends early. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { MAIN } from "../support/run-init.js";
import { makeFolder } from "../support/scaffold.js";

it("ends without an error when its reader closes the pipe, as head does", async () => {
  await using app = await makeFolder({
    "package.json": `{ "dependencies": { "pg": "8" } }`,
    "server/db.js": `import pg from "pg";\n\nexport const pool = new pg.Pool();\n`,
  });
  const child = spawn(process.execPath, [MAIN, "init", "--yes", "--no-install"], {
    cwd: app.root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  // What it had begun to write is complete.
  expect(Object.keys(await app.readAll()).toSorted()).toEqual([
    "package.json",
    "server/db.js",
    "server/limits.js",
    "server/rate-limit.sql",
  ]);
});
