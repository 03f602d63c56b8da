/** Starts the server of the examples in its worker. */
import { answerCalls } from "../answer-calls.js";
import { CONTEXT, createExampleRouter } from "./server.js";

answerCalls(self, createExampleRouter(), () => CONTEXT);
