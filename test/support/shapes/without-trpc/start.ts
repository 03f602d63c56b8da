/** TanStack Start, whose button calls a server function. */
import { packageJson } from "../../trpc-applications.js";
import { POOL } from "../parts.js";
import type { Shape } from "../shape.js";

export const START: Shape = {
  name: "TanStack Start with a server function",
  files: {
    "package.json": packageJson(
      "@tanstack/react-router",
      "@tanstack/react-start",
      "pg",
      "react",
      "react-dom",
    ),
    "src/lib/db.ts": POOL,
    "src/routes/__root.tsx": `import { createRootRoute, Outlet } from "@tanstack/react-router";

export const Route = createRootRoute({ component: () => <Outlet /> });
`,
    "src/routes/index.tsx": `import { createFileRoute } from "@tanstack/react-router";
import { createServerFn } from "@tanstack/react-start";

const sendPost = createServerFn({ method: "POST" })
  .inputValidator((text: string) => text)
  .handler(async ({ data }) => {
    return data;
  });

export const Route = createFileRoute("/")({
  component: () => <button onClick={() => sendPost({ data: "a" })}>Send</button>,
});
`,
  },
  right: {
    written: {
      "src/server/limits-handler.ts": ["getRequestIP()", "context: keyOf"],
      "src/routes/api/limits.ts": [`createFileRoute("/api/limits")({`, "limitsHandler(request)"],
      "src/rate-limit.ts": ["createRateLimitReact<typeof limiter>"],
      "src/routes/__root.tsx": ["<RateLimitProvider><Outlet /></RateLimitProvider>"],
      "src/routes/index.tsx": [
        `const key = await keyOf(getRequest());`,
        `await limiter.limit("createPost", { key, throws: true });`,
        "</RateLimitButton>",
      ],
    },
    never: ["By hand"],
  },
};
