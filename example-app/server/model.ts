import type { App } from "./trpc.js";

export function modelRouter({ t }: App) {
  return t.router({});
}
