/** Express, which serves its page itself. */
import { packageJson } from "../../trpc-applications.js";
import { POOL } from "../parts.js";
import type { Shape } from "../shape.js";
import { LIMITED_BUTTON, POST_BUTTON } from "./parts.js";

/** Express, which serves a page with a form whose call is a mutation of TanStack Query. */
const EXPRESS_WITH_USERS: Shape = {
  name: "Express with better-auth and a form",
  files: {
    "package.json": packageJson("better-auth", "express", "pg", "react", "react-dom"),
    "src/db.ts": POOL,
    "src/auth.ts": `import { betterAuth } from "better-auth";
import { pool } from "./db";

export const auth = betterAuth({ database: pool });
`,
    "src/server.ts": `import express from "express";

export function createApp() {
  const app = express();
  app.use(express.static("dist"));
  app.post("/posts", (_req, res) => res.json({}));
  return app;
}
createApp().listen(3000);
`,
    "src/main.tsx": `import { hydrateRoot } from "react-dom/client";
import { Form } from "./form";

hydrateRoot(document, <Form />);
`,
    "src/form.tsx": `import { useMutation } from "@tanstack/react-query";

export function Form() {
  const { mutate } = useMutation({
    mutationFn: () => fetch("/posts", { method: "POST" }),
  });
  return (
    <form onSubmit={() => mutate()}>
      <button type="button">Help</button>
      <button>Send</button>
    </form>
  );
}
`,
  },
  right: {
    written: {
      "src/limits-handler.ts": [
        `import { fromNodeHeaders } from "better-auth/node"`,
        "await auth.api.getSession({ headers: fromNodeHeaders(req.headers) })",
        "return ipKey(req.ip);",
        "key: ({ ctx }) => keyOf(ctx)",
      ],
      "src/server.ts": [
        `app.all("/api/limits", limitsHandler);app.post("/posts", rateLimited("createPost"),`,
      ],
      "src/form.tsx": [
        `<button type="button">Help</button><RateLimitButton name="createPost">Send</RateLimitButton>`,
      ],
      "src/main.tsx": ["<RateLimitProvider><Form /></RateLimitProvider>"],
    },
    never: ["By hand"],
  },
};

export const EXPRESS: readonly Shape[] = [
  EXPRESS_WITH_USERS,
  {
    name: "Express with React Router, which takes all other paths",
    files: {
      "package.json": packageJson("@react-router/express", "express", "pg", "react", "react-dom"),
      "app/root.tsx": `import { Outlet } from "react-router";

export default function App() {
  return <Outlet />;
}
`,
      "app/routes/home.tsx": POST_BUTTON,
      "server/db.ts": POOL,
      "server/index.ts": `import { createRequestHandler } from "@react-router/express";
import express from "express";

const app = express();
app.use(express.json());
app.post("/api/posts", (_req, res) => {
  res.json({});
});
app.use(createRequestHandler({ build }));
app.listen(4000);
`,
    },
    right: {
      written: {
        "server/limits-handler.ts": ["ipKey(req.ip)", "(req: Request) => req"],
        "server/index.ts": [
          `app.use(express.json());app.all("/api/limits", limitsHandler);`,
          `app.post("/api/posts", rateLimited("createPost"), (_req, res) =>`,
        ],
        // Not in a folder of routes, where it would be a route.
        "app/rate-limit.ts": ["createRateLimitReact"],
        "app/root.tsx": ["<RateLimitProvider><Outlet /></RateLimitProvider>"],
        "app/routes/home.tsx": LIMITED_BUTTON,
      },
      printed: ["doctor --app http://localhost:4000/api/limits"],
      never: ["By hand", "x-forwarded-for"],
    },
  },
];
