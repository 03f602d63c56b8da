/** Hono and a page of Vite: in one package, in two, and of another origin. */
import { packageJson } from "../../trpc-applications.js";
import { json, POOL } from "../parts.js";
import type { Files, Shape } from "../shape.js";
import { LIMITED_BUTTON, POST_BUTTON } from "./parts.js";

/** The files of a page in React that Vite builds. */
const vitePage = (
  folder = "src",
  proxy = `server: { proxy: { "/api": "http://localhost:3000" } }`,
) => ({
  "vite.config.ts": `import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [react()], ${proxy} });
`,
  [`${folder}/main.tsx`]: `import { createRoot } from "react-dom/client";
import { PostButton } from "./post-button";

createRoot(document.body).render(<PostButton />);
`,
  [`${folder}/post-button.tsx`]: POST_BUTTON,
});

const VITE = ["@vitejs/plugin-react", "react", "react-dom", "vite"];

const honoServer = (more = "") => `import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { pool } from "./db";

const app = new Hono()${more};

app.post("${more === "" ? "/api/posts" : "/posts"}", async (c) => {
  return c.json(await pool.query("SELECT 1"));
});

serve({ fetch: app.fetch, port: 3001 });
`;

const honoWritten = (folder: string) => ({
  [`${folder}/limits-handler.ts`]: ["getConnInfo(c).remote.address", "createRateLimitHono("],
  [`${folder}/index.ts`]: [
    `app.all("/api/limits", limitsHandler);`,
    `app.post("/api/posts", rateLimited("createPost"), async (c) =>`,
  ],
});

const workspacePart = (files: Files, folder: string): Files =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]));

const HONO_WORKSPACE: Files = {
  "package.json": json({ name: "depot", private: true, workspaces: ["apps/*"] }),
  ...workspacePart(
    {
      "package.json": packageJson("@hono/node-server", "hono", "pg").replace(`"app"`, `"api"`),
      "src/db.ts": POOL,
      "src/index.ts": honoServer(),
    },
    "apps/api",
  ),
  ...workspacePart(
    { "package.json": packageJson(...VITE).replace(`"app"`, `"web"`), ...vitePage() },
    "apps/web",
  ),
};

const honoAlone = (page: Files, more = ""): Files => ({
  "package.json": packageJson("@hono/node-server", "hono", "pg", ...VITE),
  "server/db.ts": POOL,
  "server/index.ts": honoServer(more),
  ...page,
});

export const HONO: readonly Shape[] = [
  {
    name: "Hono and a page of Vite in one package",
    files: honoAlone(vitePage()),
    right: {
      written: {
        ...honoWritten("server"),
        "src/main.tsx": ["render(<RateLimitProvider><PostButton /></RateLimitProvider>);"],
        "src/post-button.tsx": LIMITED_BUTTON,
        "package.json": [`"@tanstack/react-query": "^5.0.0"`],
      },
      printed: ["doctor --app http://localhost:3001/api/limits"],
      never: ["By hand"],
    },
  },
  {
    name: "Hono with a path before all routes",
    files: honoAlone(vitePage(), `.basePath("/api")`),
    right: {
      written: {
        "server/index.ts": [
          `app.all("/limits", limitsHandler);`,
          `app.post("/posts", rateLimited("createPost"), async (c) =>`,
        ],
        "src/rate-limit.ts": [`url: "/api/limits"`],
        "src/post-button.tsx": LIMITED_BUTTON,
      },
    },
  },
  {
    name: "Hono and a page of Vite in two packages of a workspace",
    files: HONO_WORKSPACE,
    places: ["", "apps/api", "apps/web"],
    right: {
      written: {
        ...honoWritten("apps/api/src"),
        "apps/web/src/rate-limit.ts": [`createRateLimitReact({ url: "/api/limits" })`],
        "apps/web/src/main.tsx": ["<RateLimitProvider><PostButton /></RateLimitProvider>"],
        "apps/web/src/post-button.tsx": LIMITED_BUTTON,
        "apps/web/package.json": [`"trpc-rate-limit"`, `"@tanstack/react-query"`],
      },
      never: ["By hand"],
    },
  },
  {
    name: "Hono and a page of another origin, whose lines are printed",
    files: honoAlone(vitePage("src", "")),
    right: {
      untouched: ["server/index.ts", "src/main.tsx", "src/post-button.tsx"],
      printed: ["as far as the code shows:", `app.all("/api/limits", limitsHandler);`, "CORS"],
    },
  },
  {
    name: "Hono behind a proxy of Vite that changes paths, whose lines are printed",
    files: honoAlone(
      vitePage(
        "src",
        `server: { proxy: { "/api": { target, rewrite: (path) => path.slice(4) } } }`,
      ),
    ),
    right: { untouched: ["server/index.ts", "src/main.tsx"], printed: ["limitsHandler"] },
  },
];
