/**
 * A Galera cluster of three MariaDB nodes on loopback, from the system's packages. Each node has
 * folders, ports and a socket of its own. Tests can kill, freeze and restart nodes.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chown, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import mysql from "mysql2/promise";
import { freePort } from "../support/postgres-server.js";

const run = promisify(execFile);
const PROVIDERS = ["/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so"];
/** Tests bound their own time; this bounds the start of one node, ms. */
const START_WITHIN = 60_000;

export interface GaleraNode {
  /** The URL of its database `test`. */
  readonly url: string;
  /** As in a crash. */
  kill(): Promise<void>;
  /** Suspends it. Its connections stay open. */
  freeze(): void;
  thaw(): void;
  /** Starts it again, on its old data. Resolves when it has all writes of the cluster. */
  restart(): Promise<void>;
  /** Resolves when it serves queries as a member of a cluster of this size. */
  hasJoined(size: number): Promise<void>;
}

export interface GaleraCluster {
  nodes: GaleraNode[];
  stop(): Promise<void>;
}

/** What is missing on this machine; `undefined` if nothing is. */
export async function missingForGalera(): Promise<string | undefined> {
  if (!PROVIDERS.some(existsSync)) return "the Galera library is not installed";
  for (const command of ["mariadbd", "mariadb-install-db", "rsync"]) {
    try {
      await run(command, ["--help"], { env: PATHS, maxBuffer: 1 << 24 });
    } catch (error) {
      if ((error as { code?: unknown }).code === "ENOENT") return `${command} is not installed`;
    }
  }
  return undefined;
}

const PATHS = { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/usr/local/sbin` };

export async function startGalera(): Promise<GaleraCluster> {
  const user = await mysqlUser();
  const folder = await mkdtemp(join(tmpdir(), "galera-"));
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const members = await Promise.all([0, 1, 2].map((index) => createMember(folder, index)));
  const cluster = `gcomm://${members.map(({ group }) => `127.0.0.1:${group}`).join(",")}`;
  const nodes: GaleraNode[] = [];
  const stops: (() => Promise<void>)[] = [];
  // One after the other: each of them copies the data of the first one.
  for (const [index, member] of members.entries()) {
    const { data, socket, log } = member;
    if (index === 0) await install(data, user !== undefined);
    else await mkdir(data);
    if (user !== undefined) await chown(data, user.uid, user.gid);
    const provider = [
      `gmcast.listen_addr=tcp://127.0.0.1:${member.group}`,
      `ist.recv_addr=127.0.0.1:${member.ist}`,
      "gcache.size=16M",
      "pc.recovery=false",
    ];
    const options = {
      datadir: data,
      port: member.port,
      socket,
      "bind-address": "127.0.0.1",
      "pid-file": `${data}.pid`,
      "log-error": log,
      "skip-name-resolve": "ON",
      "binlog-format": "ROW",
      "innodb-autoinc-lock-mode": 2,
      "innodb-flush-log-at-trx-commit": 0,
      "innodb-buffer-pool-size": "64M",
      "wsrep-on": "ON",
      "wsrep-provider": PROVIDERS.find(existsSync),
      "wsrep-node-address": "127.0.0.1",
      "wsrep-sst-method": "rsync",
      "wsrep-sst-receive-address": `127.0.0.1:${member.copy}`,
      // The store retries by itself.
      "wsrep-retry-autocommit": 0,
      // Reads see what other nodes have written before.
      "wsrep-sync-wait": 1,
      "wsrep-provider-options": provider.join(";"),
      ...(user !== undefined && { user: "mysql" }),
    };
    const args = ["--no-defaults"];
    for (const [name, value] of Object.entries(options)) args.push(`--${name}=${value}`);
    let child: ChildProcess;
    const start = (first: boolean) => {
      const address = first ? "gcomm://" : cluster;
      child = spawn("mariadbd", [...args, `--wsrep-cluster-address=${address}`], {
        env: PATHS,
        stdio: "ignore",
      });
      return joined(member, child, 1);
    };
    const end = async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    };
    await start(index === 0);
    stops.push(end);
    nodes.push({
      url: `mysql://root@127.0.0.1:${member.port}/test`,
      kill: end,
      freeze: () => void child.kill("SIGSTOP"),
      thaw: () => void child.kill("SIGCONT"),
      restart: () => start(false),
      hasJoined: (size) => joined(member, child, size),
    });
  }
  await Promise.all(nodes.map((node) => node.hasJoined(3)));
  const [first] = members;
  await ask(first!.port, "CREATE DATABASE test");
  return {
    nodes,
    async stop() {
      await Promise.all(stops.map((end) => end()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Member {
  data: string;
  socket: string;
  log: string;
  port: number;
  group: number;
  ist: number;
  copy: number;
}

async function createMember(folder: string, index: number): Promise<Member> {
  const data = join(folder, `data${index}`);
  const [port, group, ist, copy] = await Promise.all([0, 1, 2, 3].map(freePort));
  const files = { data, socket: join(folder, `${index}.sock`), log: join(folder, `${index}.log`) };
  return { ...files, port: port!, group: group!, ist: ist!, copy: copy! };
}

/** The first node's data. The others copy it. */
async function install(data: string, isRoot: boolean): Promise<void> {
  const options = ["--skip-test-db", "--skip-name-resolve", ...(isRoot ? ["--user=mysql"] : [])];
  const root = "--auth-root-authentication-method=normal";
  await run("mariadb-install-db", ["--no-defaults", `--datadir=${data}`, root, ...options], {
    env: PATHS,
    maxBuffer: 1 << 24,
  });
}

/** The user that the packages create for the server, which does not run as root. */
async function mysqlUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, "mysql"])).stdout)),
  );
  return { uid: uid!, gid: gid! };
}

async function ask(port: number, sql: string): Promise<string[]> {
  const connection = await mysql.createConnection({ host: "127.0.0.1", port, user: "root" });
  try {
    const [rows] = await connection.query<mysql.RowDataPacket[]>(sql);
    return Array.isArray(rows) ? rows.flatMap((row) => Object.values(row).map(String)) : [];
  } finally {
    connection.destroy();
  }
}

async function joined({ port, log }: Member, child: ChildProcess, size: number): Promise<void> {
  const until = performance.now() + START_WITHIN;
  const state = `SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS
    WHERE VARIABLE_NAME IN ('WSREP_READY', 'WSREP_CLUSTER_SIZE')`;
  for (;;) {
    const found = await ask(port, state).catch((): string[] => []);
    const sizeNow = Number(found[found.indexOf("WSREP_CLUSTER_SIZE") + 1]);
    if (found[found.indexOf("WSREP_READY") + 1] === "ON" && sizeNow >= size) return;
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > until) {
      const tail = (await readFile(log, "utf8")).split("\n").slice(-30).join("\n");
      throw new Error(`a Galera node did not join. The end of its log:\n${tail}`);
    }
    await setTimeout(100);
  }
}
