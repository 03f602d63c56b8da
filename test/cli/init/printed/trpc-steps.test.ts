/** The steps with a procedure and a component: names of the application, and code that compiles there. */
import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT } from "../../../docs/pages.js";
import { initIn, runInit } from "../../../support/run-init.js";
import { makeFolder, openFolder } from "../../../support/scaffold.js";
import { application, EXPRESS, type Files } from "../../../support/trpc-applications.js";

const COMPONENT = `import { useMutation } from "@tanstack/react-query";
import { useTRPC } from "./client";

export function TodoForm() {
  const trpc = useTRPC();
  const create = useMutation(trpc.todo.create.mutationOptions());
  return <button onClick={() => create.mutate({ text: "a" })}>Add</button>;
}
`;

/** An application whose router has routers of other files, and procedures with builders of their own. */
const todos = (): Files => {
  const files = application(EXPRESS);
  return {
    ...files,
    "src/trpc.ts": `${files["src/trpc.ts"]!}
/** With a user. */
export const protectedProcedure = t.procedure;
`,
    "src/router.ts": `import { publicProcedure, t } from "./trpc";
import { adminRouter } from "./routers/admin";
import { todoRouter } from "./routers/todo";

export const appRouter = t.router({
  admin: adminRouter,
  hello: publicProcedure.query(() => "hello"),
  todo: todoRouter,
});

export type AppRouter = typeof appRouter;
`,
    "src/routers/admin.ts": `import { protectedProcedure, t } from "../trpc";

const createUser = protectedProcedure.mutation(() => "created");

export const adminRouter = t.router({ users: { create: createUser } });
`,
    "src/routers/todo.ts": `import { z } from "zod";
import { protectedProcedure, t } from "../trpc";

export const todoRouter = t.router({
  remove: protectedProcedure.input(z.number()).mutation(({ input }) => input),
  create: protectedProcedure
    .input(z.object({ text: z.string() }))
    .mutation(({ input }) => input.text),
});
`,
    "src/client.tsx": `import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { createTRPCContext } from "@trpc/tanstack-react-query";
import type { AppRouter } from "./router";

export const { TRPCProvider, useTRPC } = createTRPCContext<AppRouter>();
const queries = new QueryClient();
const api = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: "/trpc" })] });

export const App = () => (
  <QueryClientProvider client={queries}>
    <TRPCProvider trpcClient={api} queryClient={queries}>
      hello
    </TRPCProvider>
  </QueryClientProvider>
);
`,
    "src/a.stories.tsx": COMPONENT.replace("TodoForm", "Story"),
    "src/already-logged-in.tsx": "export const AlreadyLoggedIn = () => <p>hello</p>;\n",
    "src/todo-form.tsx": COMPONENT,
  };
};

/** The code of a step, without the indentation of the output. */
function codeOf(printed: string, step: string): string {
  const text = new RegExp(String.raw`^\d+\. ${step}[^\n]*:\n\n([\s\S]*?)\n(?=\d+\. )`, "m").exec(
    printed,
  );
  return (text?.[1] ?? "").replace(/^ {5}/gm, "").trim();
}

it("name a mutation, its builder, and a component that calls it", async () => {
  await using app = await initIn(todos());
  const { printed } = app;
  expect(printed).not.toMatch(/^By hand/m);
  expect(printed).toContain("limit a procedure, such as todo.create in src/routers/todo.ts, with ");
  expect(codeOf(printed, "limit a procedure"))
    .toBe(`import { protectedProcedure, rateLimited } from "../trpc";

create: protectedProcedure
  .input(…)
  .use(rateLimited("createPost")) // after the input, so that invalid input costs nothing
  .mutation(…),

rateLimitLink<AppRouter>({ limits: { "todo.create": "createPost" } }),`);
  expect(printed).toContain("show the countdown in a component, such as src/todo-form.tsx, beside");
  // One text: in a button that lays its elements out, two texts are two columns.
  expect(codeOf(printed, "show the countdown")).toContain("{(_, text) => `Wait ${text}`}");
});

it("name no component, where none calls the mutation", async () => {
  const files = todos();
  delete files["src/todo-form.tsx"];
  await using app = await makeFolder(files);
  expect(await runInit(app.root)).toContain("show the countdown in a component, beside");
});

it.each([
  ["a builder with arguments", "limited(1, 60_000)", "limited"],
  ["the object of tRPC", "t.procedure", "t"],
])("begin as the procedure does, with %s", async (_, builder, root) => {
  const files = todos();
  files["src/trpc.ts"] += "export const limited = (..._: number[]) => t.procedure;\n";
  files["src/routers/todo.ts"] = files["src/routers/todo.ts"]!.replace(
    "create: protectedProcedure",
    `create: ${builder}`,
  ).replace("{ protectedProcedure, t }", "{ limited, protectedProcedure, t }");
  await using app = await makeFolder(files);
  const code = codeOf(await runInit(app.root), "limit a procedure");
  expect(code).toContain(`import { ${root}, rateLimited } from "../trpc";`);
  expect(code).toContain(`create: ${builder}\n  .input(…)\n`);
});

it("find a router inside of a call that merges routers, and a procedure of its own file", async () => {
  const files = todos();
  files["src/router.ts"] = files["src/router.ts"]!.replace(
    "= t.router({",
    "= t.mergeRouters(t.router({",
  ).replace("  todo: todoRouter,\n});", "}));");
  await using app = await makeFolder(files);
  const code = codeOf(await runInit(app.root), "limit a procedure");
  // Without input, nothing comes before the limit.
  expect(code).toContain(
    `\nprotectedProcedure\n  .use(rateLimited("createPost"))\n  .mutation(…)\n`,
  );
  expect(code).toContain('{ "admin.users.create": "createPost" }');
});

it("print code that compiles in the application", { timeout: 90_000 }, async () => {
  await using parent = await makeFolder({});
  const root = join(parent.root, "app");
  const app = openFolder(root);
  for (const [file, text] of Object.entries(todos())) await app.write(file, text);
  await mkdir(join(root, "node_modules"));
  await symlink(join(ROOT, "node_modules"), join(parent.root, "node_modules"));
  await symlink(ROOT, join(root, "node_modules/trpc-rate-limit"));
  const printed = await runInit(root);

  const [imports, , named] = codeOf(printed, "limit a procedure").split("\n\n");
  const router = await app.read("src/routers/todo.ts");
  await app.write(
    "src/routers/todo.ts",
    router
      .replace(/^import \{ protectedProcedure.*$/m, `${imports!}\nimport { t } from "../trpc";`)
      .replace("string() }))", 'string() }))\n    .use(rateLimited("createPost"))'),
  );
  const client = await app.read("src/client.tsx");
  await app.write("src/client.tsx", client.replace(/rateLimitLink<.*$/m, named!));
  const [from, status, button] = codeOf(printed, "show the countdown").split("\n\n");
  await app.write(
    "src/wait.tsx",
    `${from!}\n\nexport function Wait() {\n  ${status!}\n  return (\n${button!}\n  );\n}\n`,
  );

  const tsc = [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", ".", "--skipLibCheck"];
  const errors = await promisify(execFile)(process.execPath, tsc, { cwd: root }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
  expect(errors).toBe("");
});
