/** Removes what a run of `verify` has made, over a connection of its own. */
import { messageOf } from "../doctor/finding.js";
import { openPlace, type Place } from "./open-place.js";
import { within } from "./run-contract.js";

/** A statement of a process that was killed may still hold a table. */
const TRIES = 3;
/** How long a try may take, ms. */
const PATIENCE = 15_000;

/** @returns why all tries have failed; `undefined` if the rows are gone. */
export async function removeRows(place: Place): Promise<string | undefined> {
  let why: string | undefined;
  for (let i = 0; i < TRIES; i++) {
    try {
      await within(PATIENCE, removeOnce(place));
      return undefined;
    } catch (error) {
      why = messageOf(error);
    }
  }
  return why;
}

async function removeOnce(place: Place): Promise<void> {
  const { rows, close } = await openPlace(place);
  try {
    await rows.remove();
  } finally {
    await close();
  }
}
