/**
 * Runs the guide's worker that settles, until its input ends. The program runs in Node.js 24, and prints
 * each result of `settle` and `release` as JSON.
 *
 * Arguments: the folder of the guide's files, a step of the settlement, and the signal that the process
 * sends to itself at that step.
 */
import { once } from "node:events";
import { pathToFileURL } from "node:url";

interface Scope {
  settle(...args: unknown[]): Promise<unknown>;
}

interface Settling {
  limiter: {
    transaction<T>(run: (scope: Scope) => Promise<T>, options?: object): Promise<T>;
    release(...args: unknown[]): Promise<unknown>;
  };
}

interface Queue {
  boss: { complete(...args: unknown[]): Promise<unknown> };
}

const [folder = "", chosen = "", signal = ""] = process.argv.slice(2);
const load = async (name: string): Promise<unknown> =>
  import(pathToFileURL(`${folder}/server/${name}.ts`).href);
const { limiter } = (await load("with-prisma")) as Settling;
const { boss } = (await load("queue")) as Queue;
const print = (value: unknown) => console.log(JSON.stringify(value));

async function reach(step: string): Promise<void> {
  if (step !== chosen) return;
  process.kill(process.pid, signal);
  // A process that is stopped goes on with this after SIGCONT.
  if (signal === "SIGKILL") await new Promise(() => {});
}

// The objects of the guide, with a step before and after each of its calls.
const transaction = limiter.transaction.bind(limiter);
limiter.transaction = async (run, options) => {
  await reach("before the settlement");
  let settled: unknown;
  const result = await transaction(async (scope) => {
    const settle: Scope["settle"] = async (...args) => {
      settled = await scope.settle(...args);
      await reach("after the settlement");
      return settled;
    };
    return run({ ...scope, settle });
  }, options);
  print(settled);
  await reach("after the commit");
  return result;
};
const complete = boss.complete.bind(boss);
boss.complete = async (...args) => {
  await reach("after the row");
  const completed = await complete(...args);
  await reach("after the job");
  return completed;
};
const release = limiter.release.bind(limiter);
limiter.release = async (...args) => {
  const released = await release(...args);
  print(released);
  return released;
};

await load("answers");
await once(process.stdin.resume(), "end");
process.exit();
