import type { App } from "./trpc.js";

export function signUpsRouter({ t }: App) {
  return t.router({});
}
