/** The folders into which `doctor` looks: of one application, or of the packages of a monorepo. */
import { join } from "node:path";
import { findWorkspace, type Project } from "../init/facts/project.js";

export interface Places {
  /** The folder of the sources. */
  root: string;
  /** The folder with the schema of the database. */
  schema: string;
  /** The folders with installed packages, in the order in which a driver is looked for. */
  installed: readonly string[];
  workspace: Project | undefined;
}

export async function placesOf(folder: string): Promise<Places> {
  const workspace = await findWorkspace(folder);
  if (workspace === undefined) {
    return { root: folder, schema: folder, installed: [folder], workspace };
  }
  const { root, db, api, users } = workspace;
  const members = [...(db ? [db.member] : []), api, ...users];
  const installed = [...new Set(members.map((member) => join(root, member.folder))), root];
  return { root, schema: db ? join(root, db.member.folder) : root, installed, workspace };
}
