/** In development: what the page knows of its limits, as a tab of TanStack Devtools. */
import { TanStackDevtools } from "@tanstack/react-devtools";
import { rateLimitDevtools } from "trpc-rate-limit/devtools";
import { client } from "./trpc.js";

const plugins = [rateLimitDevtools({ client })];

export default function Devtools() {
  return <TanStackDevtools plugins={plugins} />;
}
