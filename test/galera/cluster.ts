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
import { freePort } from "../support/free-port.js";

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

/** A node has ended by itself: MariaDB crashes now and then while another node goes or comes. */
export class CrashedNodeError extends Error {}

export interface GaleraCluster {
  nodes: GaleraNode[];
  /** Whether no node has ended and all of them have joined. Waits for those that are about to. */
  isWhole(): Promise<boolean>;
  /** Resolves as `wait` does. Rejects once a node has ended that no test has killed. */
  unlessCrashed<TResult>(wait: Promise<TResult>): Promise<TResult>;
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
  const processes: ChildProcess[] = [];
  const killed = new Set<ChildProcess>();
  const crashListeners = new Set<() => void>();
  const hasEnded = (index: number) => {
    const { exitCode, signalCode } = processes[index]!;
    return exitCode !== null || signalCode !== null;
  };
  /** The state and the last lines of each node: the cause may be in another one's log. */
  const describeNodes = async () => {
    const states = members.map(async ({ log }, index) => {
      const lines = (await readFile(log, "utf8").catch(() => "")).split("\n");
      const told = lines.filter((line) => !line.includes("Aborted connection")).slice(-20);
      const { exitCode, signalCode } = processes[index] ?? {};
      return `node ${index}: exit ${exitCode}, signal ${signalCode}\n${told.join("\n")}`;
    });
    return (await Promise.all(states)).join("\n");
  };
  const hasCrashed = () => processes.some((each, i) => hasEnded(i) && !killed.has(each));
  const joined = async (index: number, size: number) => {
    const until = performance.now() + START_WITHIN;
    while (!(await isIn(members[index]!.port, size))) {
      if (hasEnded(index) || performance.now() > until) {
        const message = `node ${index} of Galera did not join a cluster of ${size}`;
        const ErrorType = hasCrashed() ? CrashedNodeError : Error;
        throw new ErrorType(`${message}.\n${await describeNodes()}`);
      }
      await setTimeout(100);
    }
  };
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
    const start = (first: boolean) => {
      const address = first ? "gcomm://" : cluster;
      processes[index] = spawn("mariadbd", [...args, `--wsrep-cluster-address=${address}`], {
        env: PATHS,
        stdio: "ignore",
      }).once("exit", () => crashListeners.forEach((listener) => listener()));
      return joined(index, 1);
    };
    await start(index === 0);
    nodes.push({
      url: `mysql://root@127.0.0.1:${member.port}/test`,
      async kill() {
        if (hasEnded(index)) return;
        const exited = once(processes[index]!, "exit");
        killed.add(processes[index]!);
        processes[index]!.kill("SIGKILL");
        await exited;
      },
      freeze: () => void processes[index]!.kill("SIGSTOP"),
      thaw: () => void processes[index]!.kill("SIGCONT"),
      restart: () => start(false),
      hasJoined: (size) => joined(index, size),
    });
  }
  await Promise.all(nodes.map((node) => node.hasJoined(3)));
  const [first] = members;
  await ask(first!.port, "CREATE DATABASE test");
  return {
    nodes,
    async isWhole() {
      if (nodes.some((_, index) => hasEnded(index))) return false;
      const all = await Promise.allSettled(nodes.map((node) => node.hasJoined(3)));
      return all.every(({ status }) => status === "fulfilled");
    },
    async unlessCrashed(wait) {
      let check = () => {};
      const crash = new Promise<never>((_, reject) => {
        check = () => {
          if (!hasCrashed()) return;
          void describeNodes().then((states) =>
            reject(new CrashedNodeError(`MariaDB crashed.\n${states}`)),
          );
        };
      });
      crashListeners.add(check);
      check();
      try {
        return await Promise.race([wait, crash]);
      } finally {
        crashListeners.delete(check);
      }
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.kill()));
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

/** Whether the node on this port serves queries as a member of a cluster of at least this size. */
async function isIn(port: number, size: number): Promise<boolean> {
  const state = `SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS
    WHERE VARIABLE_NAME IN ('WSREP_READY', 'WSREP_CLUSTER_SIZE')`;
  const found = await ask(port, state).catch((): string[] => []);
  const sizeNow = Number(found[found.indexOf("WSREP_CLUSTER_SIZE") + 1]);
  return found[found.indexOf("WSREP_READY") + 1] === "ON" && sizeNow >= size;
}
