/**
 * The link that ends the chain: how calls reach the server. The site replaces this file, because its
 * server runs in the page.
 */
import { httpBatchStreamLink, httpSubscriptionLink, splitLink, type TRPCLink } from "@trpc/client";
import type { AppRouter } from "../server/router.js";
import { API } from "./seat.js";

export const serverLink: TRPCLink<AppRouter> = splitLink({
  condition: (operation) => operation.type === "subscription",
  true: httpSubscriptionLink({ url: API }),
  // Answers arrive as soon as they are there, and may be streams themselves.
  false: httpBatchStreamLink({ url: API }),
});
