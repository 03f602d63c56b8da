/** Replaces the file of this name in `example-app/shared/page`: calls go to a worker of this page. */
import { portLink } from "./port-link.js";

export const serverLink = portLink(
  new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
);
