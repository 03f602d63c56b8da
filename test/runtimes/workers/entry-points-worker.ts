/**
 * A worker that imports all entry points that do not need Node. The worker answers how many names each
 * exports.
 */
import * as client from "../../../client/index.js";
import * as react from "../../../client/react/index.js";
import * as core from "../../../core/index.js";
import * as server from "../../../server/index.js";
import * as trpc from "../../../server/trpc/index.js";

const entryPoints = { core, server, trpc, client, react };

export default {
  fetch(): Response {
    const counts = Object.entries(entryPoints).map(([name, it]) => [name, Object.keys(it).length]);
    return Response.json({ ...Object.fromEntries(counts), process: typeof process });
  },
};
