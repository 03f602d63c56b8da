/** The places of the conditions of the plain path, as the header of `plain-path.ts` names them. */
import { readdir, readFile } from "node:fs/promises";
import { expect, it } from "vitest";

const CONDITION = /get plain\(\)|\bplain: can|#isPlain: boolean|isPlain: (?!boolean)/;

it("is asked by each file that decides on the path of a call, or names it", async () => {
  const header = (await readFile("server/store/plain-path.ts", "utf8")).split("*/", 1)[0]!;
  const deciding: string[] = [];
  for (const name of await readdir("server", { recursive: true })) {
    if (!name.endsWith(".ts")) continue;
    const path = `server/${name}`;
    const text = await readFile(path, "utf8");
    if (!CONDITION.test(text)) continue;
    deciding.push(path);
    const isNamed = header.includes(name);
    const asks = /import \{[^}]*(canTakePlainly|canChargePlainly|mayBePlain)/.test(text);
    expect(isNamed || asks, `${path} has a condition of its own`).toBe(true);
  }
  expect(deciding.length).toBeGreaterThanOrEqual(5);
});
