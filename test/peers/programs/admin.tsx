import { createTRPCClient, httpLink } from "@trpc/client";
import { renderToString } from "react-dom/server";
import { RateLimitAdmin } from "trpc-rate-limit/admin";
import "uplot";

// It asks nothing before it is in a browser.
const client = createTRPCClient({ links: [httpLink({ url: "http://127.0.0.1:9/trpc" })] });
const html = renderToString(<RateLimitAdmin client={client} />);
console.log(html.includes("Asking for the limits") ? "granted, then denied" : html);
