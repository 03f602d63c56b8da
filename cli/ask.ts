/** Asks on the terminal before the command changes anything. */
import { confirm, isCancel } from "@clack/prompts";
import { CliError } from "./cli-error.js";

/**
 * Resolves with whether the user agrees.
 *
 * @param unasked the message of the error where there is no terminal.
 * @throws CliError when there is no terminal on which to ask.
 */
export async function ask(message: string, unasked: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw new CliError(unasked);
  const answer = await confirm({ message });
  return !isCancel(answer) && answer;
}
