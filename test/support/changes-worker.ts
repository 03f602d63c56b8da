/** A process whose operator bans one customer after the other. It tells of each ban that was answered. */
import { openAdmin } from "./admin-caller.js";
import { CHANGED_LIMITS } from "./changed-limits.js";
import { openStore } from "./open-store.js";

const [url = "", by = ""] = process.argv.slice(2);
const { admin } = openAdmin(openStore("pg", url).store, CHANGED_LIMITS, { actor: () => by });
for (let i = 0; ; i++) {
  const key = `${by} ${i}`;
  await admin.ban({ name: "send", key, why: "a test" });
  // At once: a line that waits in this process would be lost with it.
  process.stdout.write(`${key}\n`);
}
