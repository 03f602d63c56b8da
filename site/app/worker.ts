/** Starts the server in its worker. */
import { answerCalls } from "./answer-calls.js";
import { CONTEXT, createSiteRouter } from "./server.js";

answerCalls(self, createSiteRouter(), () => CONTEXT);
