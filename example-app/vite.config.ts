import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [react()],
  // All styles come with the page: a few kB, and a part that is loaded later needs only its script.
  build: { cssCodeSplit: false },
  server: { proxy: { "/trpc": "http://localhost:3000" } },
});
