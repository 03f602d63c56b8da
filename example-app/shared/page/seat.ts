/**
 * A browser is one visitor, by its cookie. A page with `?seat=1` or `?seat=2` in its address is shown in
 * a frame of another page. The second seat is another visitor, with a cookie of its own.
 */
const seat = new URLSearchParams(location.search).get("seat");

export const IS_FRAME = seat !== null;
/** Frames of a tab share its storage, so the names of what a frame keeps contain its seat. */
export const KEPT_AS = seat === null ? "" : `-${seat}`;
/** Where the calls of this page go. Each path reads another cookie: see shared/server/app.ts. */
export const API = seat === "2" ? "/trpc-2" : "/trpc";
/** Pages of one caller share a stream of their limits. */
export const CALLER = seat === "2" ? "visitor-2" : "visitor";
