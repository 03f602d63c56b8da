/** When `next start` is stopped, it waits for requests to end. An open stream does not end. */
export function register() {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => setTimeout(() => process.exit(0), 5_000).unref());
  }
}
