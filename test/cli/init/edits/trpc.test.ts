/** Where the router of the limits goes. */
import { describe, expect, it } from "vitest";
import { Code } from "../../../../cli/init/code/code.js";
import { editRouter } from "../../../../cli/init/edits/trpc.js";

const edited = (text: string) => {
  const code = Code.read("src/router.ts", text)!;
  return editRouter(code, undefined) ? code.result() : undefined;
};

describe("the router of the application", () => {
  it.each([
    ["router({ post })", "router({ rateLimit: rateLimitRouter, post })"],
    [
      "mergeRouters(router({ post }), other)",
      "mergeRouters(router({ rateLimit: rateLimitRouter, post }), other)",
    ],
  ])("made by %s gets the limits in its object", (made, after) => {
    expect(edited(`export const appRouter = ${made};\n`)).toContain(after);
  });

  it("made of other routers alone is left to its author", () => {
    expect(edited("export const appRouter = mergeRouters(posts, users);\n")).toBeUndefined();
  });
});
