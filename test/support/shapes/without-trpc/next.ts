/** Next without tRPC: what `init` wires, and the Pages Router, whose lines are printed. */
import { packageJson } from "../../trpc-applications.js";
import { POOL, WITH_ALIAS } from "../parts.js";
import type { Files, Shape } from "../shape.js";
import { LIMITED_BUTTON, POST_BUTTON } from "./parts.js";

const LAYOUT = `export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
`;

const ROUTE = `import { pool } from "@/lib/db";

export async function POST(request: Request) {
  const { id } = await request.json();
  await pool.query("INSERT INTO parcels VALUES ($1)", [id]);
  return Response.json({ id });
}
`;

/** @param src `src/` or `""`. */
const next = (src: string, packages: readonly string[] = [], more: Files = {}): Files => ({
  "package.json": packageJson("next", "pg", "react", "react-dom", ...packages),
  "tsconfig.json": src === "" ? WITH_ALIAS.replace("./src/*", "./*") : WITH_ALIAS,
  [`${src}lib/db.ts`]: POOL,
  [`${src}app/layout.tsx`]: LAYOUT,
  [`${src}app/page.tsx`]: `import { PostButton } from "@/components/post-button";

export default function Page() {
  return <PostButton />;
}
`,
  [`${src}components/post-button.tsx`]: `"use client";\n\n${POST_BUTTON}`,
  [`${src}app/api/posts/route.ts`]: ROUTE,
  ...more,
});

/** What is written for each of them. */
const nextWritten = (src: string, key: string) => ({
  [`${src}server/limits-handler.ts`]: [key, "createRateLimitHandler({"],
  [`${src}app/api/limits/route.ts`]: ["export { limitsHandler as GET, limitsHandler as POST };"],
  [`${src}components/rate-limit.ts`]: [
    `"use client";`,
    "import type { limiter } from",
    `createRateLimitReact<typeof limiter>({ url: "/api/limits" })`,
  ],
  [`${src}app/layout.tsx`]: ["<body><RateLimitProvider>{children}</RateLimitProvider></body>"],
  [`${src}app/api/posts/route.ts`]: [
    `const denied = await rateLimited(request, "createPost"); if (denied) return denied;`,
  ],
  [`${src}components/post-button.tsx`]: LIMITED_BUTTON,
});

const ADDRESS = "ipKey(clientAddress(request.headers))";

const APP_ROUTER: readonly Shape[] = [
  {
    name: "Next without tRPC, with src",
    files: next("src/"),
    right: {
      written: nextWritten("src/", ADDRESS),
      printed: ["doctor --app http://localhost:3000/api/limits", "TRUSTED_PROXIES"],
      never: ["x-forwarded-for", "By hand"],
    },
  },
  {
    name: "Next without tRPC, without src",
    files: next(""),
    right: { written: nextWritten("", ADDRESS), never: ["By hand"] },
  },
  {
    name: "Next without tRPC, with better-auth",
    files: next("src/", ["better-auth"], {
      "src/lib/auth.ts": `import { betterAuth } from "better-auth";
import { pool } from "./db";

export const auth = betterAuth({ database: pool });
`,
    }),
    right: {
      written: {
        ...nextWritten("src/", ADDRESS),
        "src/server/limits-handler.ts": [
          "await auth.api.getSession({ headers: request.headers })",
          "if (session) return `user:${session.user.id}`;",
          `return ${ADDRESS};`,
        ],
      },
      never: ["By hand"],
    },
  },
  {
    name: "Next without tRPC, with Auth.js, whose session is read once for a stream",
    files: next("src/", ["next-auth"], {
      "src/auth.ts": `import NextAuth from "next-auth";

export const { handlers, auth } = NextAuth({ providers: [] });
`,
    }),
    right: {
      written: {
        "src/server/limits-handler.ts": [
          `import { auth } from "@/auth"`,
          "const session = await auth();",
          "if (session?.user?.id) return `user:${session.user.id}`;",
          "context: keyOf",
        ],
      },
      never: ["By hand"],
    },
  },
  {
    name: "Next without tRPC, with Clerk",
    files: next("src/", ["@clerk/nextjs"], {
      "src/middleware.ts": `import { clerkMiddleware } from "@clerk/nextjs/server";

export default clerkMiddleware();
`,
    }),
    right: {
      written: {
        "src/server/limits-handler.ts": [
          `import { auth } from "@clerk/nextjs/server"`,
          "const { userId } = await auth(); if (userId) return `user:${userId}`;",
          "context: keyOf",
        ],
      },
      never: ["By hand"],
    },
  },
  {
    name: "Next without tRPC, with several buttons, of which none is edited",
    files: next("src/", [], {
      "src/components/other.tsx": POST_BUTTON.replaceAll("PostButton", "Other"),
    }),
    right: {
      written: { "src/app/layout.tsx": ["<RateLimitProvider>"] },
      untouched: ["src/components/other.tsx", "src/components/post-button.tsx"],
      printed: [`rateLimited(request, "createPost")`, "<RateLimitButton"],
    },
  },
];

const NEXT_PAGES: Shape = {
  name: "Next with the Pages Router and no tRPC, whose lines are printed",
  files: {
    "package.json": packageJson("next", "pg", "react", "react-dom"),
    "src/db.ts": POOL,
    "src/pages/index.tsx": POST_BUTTON,
    "src/pages/api/posts.ts": `export default function handler(_req, res) {
  res.json({});
}
`,
  },
  right: {
    untouched: ["src/pages/index.tsx", "src/pages/api/posts.ts"],
    printed: ["serve limitsHandler at /api/limits", "createRateLimitReact", "<RateLimitButton"],
  },
};

export const NEXT: readonly Shape[] = [...APP_ROUTER, NEXT_PAGES];
