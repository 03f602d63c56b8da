import type { App } from "./trpc.js";

export function logInRouter({ t }: App) {
  return t.router({});
}
