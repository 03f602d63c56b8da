import type { App } from "./trpc.js";

export function behindRouter({ t }: App) {
  return t.router({});
}
