/** The applications in whose database limits cannot be kept. */
import { CliError } from "../../cli-error.js";
import type { Project } from "./project.js";
import { majorOf } from "./versions.js";

export const TRPC_10 =
  "The application has tRPC 10. The hooks, links and middleware of trpc-rate-limit/trpc, /client and " +
  "/react need tRPC 11, so nothing of them was written. The limiter of trpc-rate-limit/server works in " +
  "procedures and handlers, " +
  "and so do the headers of docs/http.md and trpc-rate-limit/countdown in React. After an update to " +
  "tRPC 11, run init again.";

/** @throws CliError when limits cannot be kept in the project's database. */
export async function refuse(project: Project, isTrpc10: boolean): Promise<void> {
  const { api, users, db } = project;
  const members = [api, ...users, ...(db ? [db.member] : [])];
  if (members.some(({ packages }) => packages.has("@planetscale/database"))) {
    throw new CliError(
      "the application uses PlanetScale, whose Vitess cannot keep limits; docs/databases.md of " +
        "trpc-rate-limit lists databases that can",
    );
  }
  const prisma = db?.orm === "prisma" && (await majorOf(project, db.member, "@prisma/client"));
  if (prisma && prisma < 6) {
    throw new CliError(
      `the application uses Prisma ${prisma}, and prismaStore needs Prisma 6 or later; update Prisma, ` +
        "or keep the limits by another client of the database: docs/stores.md of trpc-rate-limit" +
        (isTrpc10 ? `. ${TRPC_10}` : ""),
    );
  }
  const sources = [...(db?.member.sources.values() ?? [])];
  if (sources.some((text) => /["']@prisma\/adapter-d1["']/.test(text))) {
    throw new CliError(
      "the application uses Prisma on Cloudflare D1, with a client for each request, which init " +
        "cannot wire; docs/guides/workers.md of trpc-rate-limit says how to do it by hand",
    );
  }
}
