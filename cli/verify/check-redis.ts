/** The version and the settings of Redis or Valkey. `redisStore` itself refuses a server that does not fit. */
import { messageOf, ok, warning } from "../doctor/finding.js";
import type { ServerFacts } from "./server-facts.js";

const SETTINGS = ["redis_mode", "maxmemory_policy", "aof_enabled", "connected_slaves", "role"];

export async function checkRedis(
  send: (args: readonly string[]) => Promise<unknown>,
): Promise<ServerFacts> {
  // Fails if the server asks for a password, or does not answer.
  await send(["PING"]);
  let info: string;
  try {
    info = String(await send(["INFO"]));
  } catch (error) {
    const message = `the server does not tell its settings: ${messageOf(error)}`;
    const findings = [warning("server", message, "allow INFO, or see docs/redis.md")];
    return { engine: "Redis", settings: {}, findings };
  }
  const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1];
  const valkey = read("valkey_version");
  const engine = valkey ? `Valkey ${valkey}` : `Redis ${read("redis_version") ?? ""}`;
  const found = SETTINGS.flatMap((name) => {
    const value = read(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { engine, settings: Object.fromEntries(found), findings: [ok("server", engine)] };
}
