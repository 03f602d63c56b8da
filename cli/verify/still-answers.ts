/** Tells a database that does not keep limits from one that has gone away. */
import { CliError } from "../cli-error.js";
import { messageOf } from "../doctor/finding.js";
import { openPlace, type Place } from "./open-place.js";
import { within } from "./waits.js";

/** How long the database may take to answer over a new connection, ms. */
const PATIENCE = 10_000;

/** @throws CliError if the database does not answer over a new connection. */
export async function stillAnswers(place: Place): Promise<void> {
  try {
    await within(PATIENCE, askOnce(place));
  } catch (error) {
    throw new CliError(
      `the database has stopped answering (${messageOf(error)}), which says nothing about limits; ` +
        "run verify again when it answers",
    );
  }
}

async function askOnce(place: Place): Promise<void> {
  const { database, send, close } = await openPlace(place);
  try {
    await (send?.(["PING"]) ?? database!.connection.query("SELECT 1", []));
  } finally {
    await close();
  }
}
