import { contenders } from "./contenders.js";
import { createTables } from "./database.js";
await createTables();
const [,, contender, keys, waiting] = process.argv;
const s = await contenders[contender!]!(1e9);
for (let i = 0; i < 4; i++) { let n = 0; const c0 = process.cpuUsage(); const end = performance.now() + 2500;
await Promise.all(Array.from({ length: Number(waiting) }, async () => { while (performance.now() < end) { await s.take("key " + (keys === "1" ? 0 : Math.floor(Math.random() * Number(keys)))); n++; } }));
const c = process.cpuUsage(c0); console.log(contender, keys, waiting, Math.round(n / 2.5), "cpu us/call", ((c.user + c.system) / n).toFixed(2)); }
process.exit(0);
