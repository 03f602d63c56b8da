/** The user of a cookie, as an application would look it up. */
export async function userIdOf(headers: Headers): Promise<string> {
  return headers.get("cookie") ?? "ada";
}
