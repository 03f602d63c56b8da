import type { App } from "./trpc.js";

export function playgroundRouter({ t }: App) {
  return t.router({});
}
