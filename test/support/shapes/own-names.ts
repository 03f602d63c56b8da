/** What is printed names the application's own procedures, files and scripts. */
import { application, EXPRESS } from "../trpc-applications.js";
import type { Shape } from "./shape.js";

export const OWN_NAMES: Shape = {
  name: "a procedure, a component that calls it, and others that do not",
  files: application({
    ...EXPRESS,
    packages: ["@tanstack/react-query", "@trpc/react-query", "express"],
    more: {
      "src/routers/parcel.ts": `import { z } from "zod";
import { publicProcedure, t } from "../trpc";

export const parcelRouter = t.router({
  send: publicProcedure.input(z.object({ to: z.string() })).mutation(({ input }) => input.to),
});
`,
      "src/router.ts": `import { parcelRouter } from "./routers/parcel";
import { t } from "./trpc";

export const appRouter = t.router({ parcel: parcelRouter });

export type AppRouter = typeof appRouter;
`,
      "src/components/action-button.stories.tsx": `export default { title: "Button" };\n`,
      "src/components/header.tsx": `export const Header = () => <header>Depot</header>;\n`,
      "src/components/send-form.tsx": `import { client } from "../client";

export function SendForm() {
  return <button onClick={() => client.parcel.send.mutate({ to: "a" })}>Send</button>;
}
`,
    },
  }),
  right: {
    printed: ["parcel.send", "src/routers/parcel.ts", "src/components/send-form.tsx"],
    never: ["post.create", ".stories", "header.tsx"],
  },
};
