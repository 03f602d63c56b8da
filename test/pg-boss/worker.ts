/** Runs the worker of the guide until its input ends. Argument: the folder of the guide's files. */
import { once } from "node:events";
import { pathToFileURL } from "node:url";

await import(pathToFileURL(`${process.argv[2]}/server/worker.ts`).href);
console.log("ready");
await once(process.stdin.resume(), "end");
process.exit();
