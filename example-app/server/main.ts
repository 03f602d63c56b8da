/** Starts the demo. `PORT` chooses the port (0: any free one), `DATABASE_URL` the SQLite file. */
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createApp } from "./app.js";
import { openDatabase } from "./database.js";

const DEFAULT_FILE = fileURLToPath(new URL("../demo.db", import.meta.url));
const { PORT = "3000", DATABASE_URL = `file:${DEFAULT_FILE}` } = process.env;

const prisma = await openDatabase(DATABASE_URL);
const server = await createApp(prisma);

server.on("error", (error: NodeJS.ErrnoException) => {
  const taken = error.code === "EADDRINUSE";
  console.error(taken ? `Port ${PORT} is taken; choose another with PORT=…` : error.message);
  process.exit(1);
});
server.listen(Number(PORT), () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Chat demo on http://localhost:${port} (Ctrl-C stops it)`);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    server.close(() => void prisma.$disconnect().then(() => process.exit(0)));
    // The status streams of open pages would otherwise keep the server for ever.
    server.closeAllConnections();
  });
}
