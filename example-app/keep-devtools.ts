/**
 * Keeps the package's devtools in the demo that is built. They are a stub in a production build, as
 * an application wants it. Here, visitors are to see them.
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
