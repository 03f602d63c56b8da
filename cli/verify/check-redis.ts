/** The version and the settings of Redis or Valkey. `redisStore` itself refuses a server that does not fit. */
import { CliError } from "../cli-error.js";
import { messageOf, ok, tried, warning } from "../doctor/finding.js";
import { findLeftKeys } from "./left-rows.js";
import type { ServerFacts } from "./server-facts.js";

const SETTINGS = ["redis_mode", "maxmemory_policy", "aof_enabled", "connected_slaves", "role"];

/** @throws CliError for a node of a cluster. */
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
  if (read("redis_mode") === "cluster") {
    throw new CliError(
      "this server is a node of a Redis Cluster, and verify runs on a single server only",
    );
  }
  const valkey = read("valkey_version");
  const engine = valkey ? `Valkey ${valkey}` : `Redis ${read("redis_version") ?? ""}`;
  const found = SETTINGS.flatMap((name) => {
    const value = read(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const left = await tried("left", () => findLeftKeys(send));
  return { engine, settings: Object.fromEntries(found), findings: [ok("server", engine), ...left] };
}
