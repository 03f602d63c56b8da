/**
 * Sends messages by the guide's code, and kills its own process at a step. The program runs in Node.js
 * 24, which has what pg-boss needs.
 *
 * Arguments: the folder of the guide's files, the name of the function that sends, the number of
 * messages, and the step of the last message at which the process kills itself. The program prints the
 * result of each message, as JSON.
 */
import { pathToFileURL } from "node:url";

interface Scope {
  limit(...args: unknown[]): Promise<unknown>;
}

interface Sending {
  limiter: { transaction<T>(run: (scope: Scope) => Promise<T>, options?: object): Promise<T> };
  sendLater(visitor: string, text: string): Promise<{ id: number; startAfter: Date }>;
}

interface Queue {
  boss: { send(...args: unknown[]): Promise<unknown> };
}

const [folder = "", file = "", count = "", deadly = ""] = process.argv.slice(2);
const load = async (name: string): Promise<unknown> =>
  import(pathToFileURL(`${folder}/server/${name}.ts`).href);
const { limiter, sendLater } = (await load(file)) as Sending;
const { boss } = (await load("queue")) as Queue;
let isLast = false;

async function reach(step: string): Promise<void> {
  if (!isLast || step !== deadly) return;
  process.kill(process.pid, "SIGKILL");
  await new Promise(() => {});
}

// The objects of the guide, with a step before and after each of its calls.
const transaction = limiter.transaction.bind(limiter);
limiter.transaction = async (run, options) => {
  const result = await transaction(async (scope) => {
    await reach("before the limit");
    const limit: Scope["limit"] = async (...args) => {
      const answer = await scope.limit(...args);
      await reach("after the limit");
      return answer;
    };
    return run({ ...scope, limit });
  }, options);
  await reach("after the commit");
  return result;
};
const send = boss.send.bind(boss);
boss.send = async (...args) => {
  await reach("after the row");
  const id = await send(...args);
  await reach("after the job");
  return id;
};

for (let i = 1; i <= Number(count); i++) {
  isLast = i === Number(count);
  console.log(JSON.stringify(await sendLater("ann", `message ${i}`)));
}
process.exit();
