/** All shapes. */
import { BEARERS } from "./bearer.js";
import { CATALOGS } from "./catalog.js";
import { EXPO, OPTIONS_PROXIES, SPLIT_CLIENT } from "./clients.js";
import { CLOSURE_CONTEXT } from "./closure-context.js";
import { CACHED_CONTEXT, HONO_ON_BUN } from "./context-beside-trpc.js";
import {
  BUILT_DATABASE_PACKAGE,
  DATABASE_PACKAGE,
  PLANETSCALE_WORKSPACE,
} from "./database-package.js";
import { OLD_DRIZZLE, TAKEN_FILE } from "./drizzle-schemas.js";
import { CLIENTS_OF_QUERIES, READ_REPLICAS } from "./hidden-clients.js";
import { CHOSEN_ADDRESSES, HONO_ON_NODE } from "./hono-workspace.js";
import { INNER_CONTEXT, NODE_HEADERS } from "./next-pages.js";
import { OWN_NAMES } from "./own-names.js";
import { HONO_HANDLERS, NEXT_HANDLER } from "./printed-handlers.js";
import type { Shape } from "./shape.js";
import { TRPC_10 } from "./trpc-10.js";
import { TWO_MAKERS } from "./two-makers.js";
import { WITHOUT_TRPC } from "./without-trpc/index.js";

export const SHAPES: readonly Shape[] = [
  HONO_ON_NODE,
  ...CLIENTS_OF_QUERIES,
  READ_REPLICAS,
  DATABASE_PACKAGE,
  BUILT_DATABASE_PACKAGE,
  PLANETSCALE_WORKSPACE,
  CLOSURE_CONTEXT,
  TWO_MAKERS,
  HONO_ON_BUN,
  CACHED_CONTEXT,
  INNER_CONTEXT,
  NODE_HEADERS,
  ...BEARERS,
  TRPC_10,
  ...CHOSEN_ADDRESSES,
  NEXT_HANDLER,
  ...HONO_HANDLERS,
  ...OPTIONS_PROXIES,
  SPLIT_CLIENT,
  EXPO,
  ...CATALOGS,
  TAKEN_FILE,
  OLD_DRIZZLE,
  OWN_NAMES,
  ...WITHOUT_TRPC,
];
