/** How a function that makes the context gets the address, and when it is left to its author. */
import { describe, expect, it } from "vitest";
import { Code } from "../../../../cli/init/code/code.js";
import { writeImports } from "../../../../cli/init/code/imports.js";
import { editCreateContext } from "../../../../cli/init/edits/context.js";
import type { Server } from "../../../../cli/init/facts/addresses.js";

const edited = (text: string, name?: string, server: Partial<Server> = {}) => {
  const code = Code.read("src/context.ts", text)!;
  const isDone = editCreateContext(code, name, {
    packages: new Set(),
    runtime: "unknown",
    ...server,
  });
  writeImports(code);
  return isDone ? code.result() : undefined;
};
const handler = (around: string, maker: string) =>
  `export const GET = ${around} fetchRequestHandler({ router: appRouter, req, createContext: ${maker} });\n`;

describe("the function in the settings of a handler", () => {
  it("gets a parameter where no variable of that name is near", () => {
    expect(edited(handler("(request: Request) =>", "() => ({ db })"))).toContain(
      "createContext: ({ req }) => ({ address: clientAddress(req.headers), db })",
    );
  });

  it.each(["Request", "NextRequest"])("reads the %s of the function around it", (type) => {
    const text = handler(`async (req: ${type}) =>`, "async () => ({ db, id: idOf(req) })");
    expect(edited(text)).toContain(
      "createContext: async () => ({ address: clientAddress(req.headers), db, id: idOf(req) })",
    );
  });

  it.each([
    ["a variable of an unknown type", handler("(req) =>", "() => ({ db, id: idOf(req) })")],
    ["a variable of the file", `const req = 1;\n${handler("() =>", "() => ({ db })")}`],
    ["a name that it reads from elsewhere", handler("() =>", "({ res }) => ({ id: idOf(req) })")],
    ["an unused parameter of that name around it", handler("(req: Other) =>", "() => ({ db })")],
    ["two results", handler("() =>", "() => { if (a) return { b }; return { c }; }")],
  ])("is left alone that would hide, or has, %s", (_, text) => {
    expect(edited(text)).toBeUndefined();
  });
});

describe("a function of its own", () => {
  it("that is passed to a wrapper reads the headers that Next gives to all", () => {
    const text = `export const createTRPCContext = cache(async () => {\n  return { auth: await auth() };\n});\n`;
    const next = { packages: new Set(["next"]) };
    const made = edited(text, "createTRPCContext", next);
    expect(made).toContain("address: clientAddress(await headers())");
    expect(made).toContain('import { headers } from "next/headers";');
    expect(
      edited(text.replace("async ", "").replace("await ", ""), "createTRPCContext", next),
    ).toBeUndefined();
    expect(edited(`const headers = 1;\n${text}`, "createTRPCContext", next)).toBeUndefined();
  });

  const onHono = `import type { Context } from "hono";
export const createContext = async (_: unknown, c: Context) => ({ db });\n`;

  it.each([
    ["node", "@hono/node-server/conninfo"],
    ["bun", "hono/bun"],
  ] as const)("finds Hono's context by its type, and the address by %s", (runtime, from) => {
    const made = edited(onHono, "createContext", { runtime });
    expect(made).toContain(`import { getConnInfo } from "${from}";`);
    expect(made).toContain("(_: unknown, c: Context) => ({");
    expect(made).toContain("{ connection: getConnInfo(c).remote.address }");
  });

  it("on an unknown runtime imports none", () => {
    expect(edited(onHono, "createContext")).not.toContain("getConnInfo");
  });

  it("whose only parameter says nothing is left alone", () => {
    const text =
      "import type { Context } from 'hono';\nexport const createContext = (_: unknown) => ({ db });\n";
    expect(edited(text, "createContext", { runtime: "node" })).toBeUndefined();
  });
});
