/** The commands of the store without a key: a client of a cluster cannot tell to which server they go. */

const KEYLESS: ReadonlySet<string> = new Set([
  "CLIENT",
  "CLUSTER",
  "CONFIG",
  "INFO",
  "PING",
  "PUBLISH",
  "ROLE",
  "SCAN",
  "SCRIPT",
  "TIME",
  "WAIT",
]);

export function isKeyless([command = "", , keys]: readonly string[]): boolean {
  return command.startsWith("EVAL") ? keys === "0" : KEYLESS.has(command);
}
