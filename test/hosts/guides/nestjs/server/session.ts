import type { Request as ExpressRequest } from "express";

/** The user of a cookie, as an application would look it up. */
export function userIdOf(request: ExpressRequest): string {
  return request.headers.cookie ?? "ada";
}
