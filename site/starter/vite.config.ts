import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import react from "@vitejs/plugin-react";
import { defineConfig, type PluginOption } from "vite";
import { appRouter } from "./server/router";

const handler = createHTTPHandler({
  router: appRouter,
  // Take the id from your session. Never take it from something that the caller can choose.
  createContext: () => ({ userId: "demo" }),
});

/** The API in the server of the page, so that one command starts both. */
const api: PluginOption = {
  name: "api",
  configureServer: ({ middlewares }) => void middlewares.use("/trpc", handler),
  configurePreviewServer: ({ middlewares }) => void middlewares.use("/trpc", handler),
};

export default defineConfig({ plugins: [react(), api] });
