/** PgBouncer in transaction mode, on a free port in front of a PostgreSQL server. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.js";
import { unprivilegedUser } from "./postgres-server.js";

export interface Pgbouncer {
  /** The URL of a database of the server, through PgBouncer. */
  urlOf(database: string): string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** For example "PgBouncer 1.18.0"; `undefined` if PgBouncer is not installed. */
export function pgbouncerVersion(): string | undefined {
  try {
    return execFileSync("pgbouncer", ["--version"], { encoding: "utf8", env: PATHS }).split(
      "\n",
    )[0];
  } catch {
    return undefined;
  }
}

/** Debian installs PgBouncer in a folder that only root's path has. */
const PATHS = { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/usr/local/sbin` };

/** @param server the URL of the server. The user in the URL needs no password. */
export async function startPgbouncer(server: string): Promise<Pgbouncer> {
  const { hostname, port, username } = new URL(server);
  const user = await unprivilegedUser();
  const folder = await mkdtemp(join(tmpdir(), "pgbouncer-"));
  const listenPort = await freePort();
  const settings = `
[databases]
* = host=${hostname} port=${port || 5432} user=${decodeURIComponent(username)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 6
ignore_startup_parameters = extra_float_digits,options
`;
  const file = join(folder, "pgbouncer.ini");
  await writeFile(file, settings);
  if (user.uid !== undefined) await chown(folder, user.uid, user.gid!);
  const child = spawn("pgbouncer", [file], {
    ...user,
    env: PATHS,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const exited = once(child, "exit");
  await Promise.race([
    listens(listenPort),
    exited.then(() => {
      throw new Error(`PgBouncer exited before it was ready. Its log:\n${log}`);
    }),
  ]);
  return {
    urlOf(database) {
      const url = new URL(server);
      url.host = `127.0.0.1:${listenPort}`;
      url.pathname = database;
      return url.href;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Tries until something accepts connections on the port. */
async function listens(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      socket.destroy();
    }
  }
}
