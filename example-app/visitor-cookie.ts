/**
 * For Vite's server in development: sets the visitor's cookie with the page, as the server does with the
 * built page. Without the cookie, the first calls of a page, which go out together, would be those of
 * several visitors.
 */
import type { Plugin } from "vite";

/** How long calls without a cookie count as calls of one page, ms. */
const TOGETHER = 1000;

/** The seats with their cookies: see shared/server/app.ts. All other pages use the cookie `visitor`. */
const SEATS = [
  { page: "/?seat=2", calls: "/trpc-2/", name: "visitor-2" },
  { page: "/?seat=1", calls: "/trpc/", name: "visitor" },
];

/** @param api where the server is, unless Vite's proxy for `/trpc` names another address. */
export function visitorCookie(api: string): Plugin {
  return {
    name: "visitor cookie",
    apply: "serve",
    configureServer({ config, middlewares }) {
      const { "/trpc": proxied } = config.server.proxy ?? {};
      const target = typeof proxied === "string" ? proxied : api;
      /** The server checks a cookie, which may be of another database, and answers with a new one. */
      async function askFor(page: string, cookie: string): Promise<string[]> {
        const answer = await fetch(new URL(page, target), { headers: { cookie } });
        return answer.headers.getSetCookie();
      }
      /** The cookies for calls of a page that was loaded before the server had started, by page. */
      const fresh = new Map<string, Promise<string[]>>();
      function askOnce(page: string): Promise<string[]> {
        const known = fresh.get(page);
        if (known) return known;
        const asked = askFor(page, "");
        fresh.set(page, asked);
        const forget = () => setTimeout(() => fresh.delete(page), TOGETHER);
        asked.then(forget, forget);
        return asked;
      }

      middlewares.use(({ url, headers }, res, next) => {
        const { cookie = "", accept = "" } = headers;
        const seat = SEATS.find(
          ({ page, calls }) => url!.startsWith(page) || url!.startsWith(calls),
        );
        const { page, name } = seat ?? { page: "/", name: "visitor" };
        const isCall = seat !== undefined && url!.startsWith(seat.calls);
        const isPage = !isCall && accept.includes("text/html");
        if (!isPage && !(isCall && !cookie.includes(`${name}=`))) return next();
        (isPage ? askFor(page, cookie) : askOnce(page))
          .then((cookies) => {
            if (cookies.length === 0) return;
            res.setHeader("Set-Cookie", cookies);
            // The server then knows the visitor, and hands out no other cookie.
            if (isCall) headers.cookie = `${cookie}; ${cookies[0]!.split(";")[0]!}`;
          })
          // The page says itself that the server does not answer.
          .catch(() => {})
          .finally(next);
      });
    },
  };
}
