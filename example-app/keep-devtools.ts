/**
 * Keeps the package's devtools in the demo that is built. In a production build, the devtools are a stub,
 * as an application wants. Visitors of the demo are to see them.
 */
import type { Plugin } from "vite";

export const keepDevtools: Plugin = {
  name: "keep devtools",
  apply: "build",
  transform: {
    order: "pre",
    filter: { id: /\/dist\/client\/devtools\/rate-limit-devtools\.js$/ },
    handler: (code) => ({
      code: code.replaceAll("process.env.NODE_ENV", JSON.stringify("demo")),
      map: null,
    }),
  },
};
