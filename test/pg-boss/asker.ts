/**
 * Calls the guide's router through a tRPC caller, and prints the answer. The program runs in Node.js 24.
 *
 * Arguments: the folder of the guide's files, the user, and the prompt.
 */
import { pathToFileURL } from "node:url";

interface Routing {
  appRouter: {
    createCaller(context: { userId: string }): {
      ask(input: { prompt: string }): Promise<{ once: string }>;
    };
  };
}

const [folder = "", userId = "", prompt = ""] = process.argv.slice(2);
const { appRouter } = (await import(pathToFileURL(`${folder}/server/router.ts`).href)) as Routing;
console.log(JSON.stringify(await appRouter.createCaller({ userId }).ask({ prompt })));
process.exit();
