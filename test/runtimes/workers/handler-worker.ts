/** The handler of limits in a Worker, whose limits are in the memory of its isolate. */
import * as server from "../../../server/index.js";
import { createHandlerApp } from "../../support/handler-app.js";

const handler = createHandlerApp(server);

export default { fetch: (request: Request): Promise<Response> => handler(request) };
