/**
 * A process that does one job after the other, until it is killed. The process prints the jobs that it has
 * done.
 *
 * Arguments: the URL of a PostgreSQL database, and the first job.
 */
import { openStore } from "./open-store.js";
import { openJobs, runJob } from "./usage-jobs.js";

const [url, first] = process.argv.slice(2) as [string, string];
const { store } = openStore("pg", url, { connections: 2 });
const limiter = openJobs(store);
for (let job = Number(first); ; job++) {
  await runJob(limiter, job);
  process.stdout.write(`${job}\n`);
}
