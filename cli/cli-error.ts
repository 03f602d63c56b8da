/** The error of a command that cannot go on. The message says what to do. */
export class CliError extends Error {
  override readonly name = "CliError";
}
