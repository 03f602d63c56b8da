/**
 * Knows a visitor without a login: by a random id in a cookie that only this server can make and no
 * script can read. A visitor who drops the cookie is a new visitor. An application that must prevent this
 * asks for a captcha or a login before it sets a cookie.
 */
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { parse, serialize } from "cookie";
import type { PrismaClient } from "../generated/prisma/client.js";
import { saveSetting } from "./settings.js";

/** A second visitor of the same browser has a path and a cookie of its own. Both end with `-2`. */
export type Seat = "" | "-2";
const ONE_YEAR = 365 * 24 * 60 * 60;

/** The key that signs cookies, made at the first start and kept with the data. */
export function loadSecret(prisma: PrismaClient): Promise<string> {
  return saveSetting(prisma, "cookie secret", randomBytes(32).toString("hex"));
}

/** The visitor's id. A request without a valid cookie gets a new cookie with its response. */
export function visitorOf(
  req: IncomingMessage,
  res: ServerResponse,
  secret: string,
  seat: Seat,
): string {
  const known = verify(parse(req.headers.cookie ?? "")[`visitor${seat}`], secret);
  if (known !== undefined) return known;
  const visitor = randomUUID();
  giveCookie(res, secret, seat, visitor);
  return visitor;
}

/** Makes the browser that gets this response the visitor. */
export function giveCookie(res: ServerResponse, secret: string, seat: Seat, visitor: string): void {
  const cookie = serialize(`visitor${seat}`, `${visitor}.${sign(visitor, secret)}`, {
    httpOnly: true,
    sameSite: "lax",
    path: "/",
    maxAge: ONE_YEAR,
  });
  res.setHeader("Set-Cookie", cookie);
}

function verify(cookie: string | undefined, secret: string): string | undefined {
  const [visitor = "", signature = ""] = cookie?.split(".") ?? [];
  const given = Buffer.from(signature);
  const expected = Buffer.from(sign(visitor, secret));
  return given.length === expected.length && timingSafeEqual(given, expected) ? visitor : undefined;
}

function sign(visitor: string, secret: string): string {
  return createHmac("sha256", secret).update(visitor).digest("base64url");
}
