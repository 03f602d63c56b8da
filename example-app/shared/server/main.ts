/** Starts the demo: one process, or several that share a port and a database. */
import cluster from "node:cluster";
import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { relayCounts } from "../../behind/other-processes.js";
import { announcePhone } from "../../phone/announce.js";
import { createPhone } from "../../phone/phone.js";
import { createRaceProcesses } from "../../race/processes.js";
import { createApp } from "./app.js";
import { openDatabase } from "./database.js";
import { type Options, portIsTaken, readOptions } from "./options.js";

function exitWith(message: string): never {
  console.error(message);
  process.exit(1);
}

function read(): Options {
  try {
    return readOptions();
  } catch (error) {
    return exitWith((error as Error).message);
  }
}

const options = read();
const host = options.isLocal ? "localhost" : undefined;
// In production, visitors come over a name, and not over an address in a local network.
const hasPhone = !options.isLocal && process.env["NODE_ENV"] !== "production";
/** Signs the addresses for phones, in all processes of this start. */
const phoneKey = process.env["PHONE_KEY"] ?? randomBytes(32).toString("hex");
const signals = ["SIGINT", "SIGTERM"] as const;

if (cluster.isPrimary && options.processes > 1) {
  // Migrated once, before several processes open it.
  await (await openDatabase(options.databaseUrl)).$disconnect();
  for (let i = 1; i <= options.processes; i++) cluster.fork({ PHONE_KEY: phoneKey });
  relayCounts();
  let isAnnounced = false;
  cluster.on("listening", (_worker, { port }) => {
    if (!isAnnounced) announce(port);
    isAnnounced = true;
  });
  cluster.on("exit", (_worker, code) => {
    if (code !== 0) process.exitCode = code;
    if (Object.keys(cluster.workers ?? {}).length === 0) process.exit();
  });
  for (const signal of signals) {
    process.once(signal, () => {
      for (const worker of Object.values(cluster.workers ?? {})) worker?.kill(signal);
    });
  }
} else {
  const prisma = await openDatabase(options.databaseUrl);
  // In a terminal, the person who has started the demo opens the page next, and the page shows a race
  // first.
  const isOpenedNext = process.stdout.isTTY && options.processes === 1;
  const race = isOpenedNext ? createRaceProcesses(() => options.databaseUrl) : undefined;
  const port = () => (server.address() as AddressInfo).port;
  const phone = hasPhone ? createPhone(prisma, phoneKey, port) : undefined;
  const server = await createApp(prisma, undefined, cluster.worker?.id, race, phone);
  server.on("error", (error: NodeJS.ErrnoException) => {
    const isTaken = error.code === "EADDRINUSE";
    exitWith(isTaken ? portIsTaken(options.port) : error.message);
  });
  server.listen(options.port, host, () => {
    if (cluster.isPrimary) announce(port());
  });
  for (const signal of signals) {
    process.once(signal, () => {
      server.close(() => void prisma.$disconnect().then(() => process.exit(0)));
      // The status streams of open pages would otherwise keep the server for ever.
      server.closeAllConnections();
    });
  }
}

function announce(port: number): void {
  const count = options.processes === 1 ? "" : `, ${options.processes} processes`;
  console.log(`Demo on http://localhost:${port}${count} (Ctrl-C stops it)`);
  if (hasPhone) announcePhone(phoneKey, port);
}
