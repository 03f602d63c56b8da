/**
 * A process of a run, in a worker of its own. The worker is below a frame without an origin, a network or
 * storage, see `sandbox.ts`. Beside that, the code finds nothing here but the language.
 */
import { packageTools } from "./package-tools.js";
import { serveProcess, type Tools } from "./process.js";

/** What the package or the language needs, beside the globals of ECMAScript. */
const KEPT = new Set(["constructor", "AbortController", "AbortSignal", "queueMicrotask"]);
const LANGUAGE =
  /^(?:undefined|NaN|Infinity|globalThis|parse(?:Int|Float)|is(?:NaN|Finite)|(?:en|de)codeURI(?:Component)?|Object|Function|Array|Number|Boolean|String|Symbol|BigInt|Date|Promise|RegExp|JSON|Math|Intl|Reflect|Proxy|Iterator|(?:Weak)?(?:Map|Set)|WeakRef|FinalizationRegistry|(?:[A-Z]\w*)?Error|ArrayBuffer|DataView|(?:Big)?(?:Int|Uint|Float)\d+(?:Clamped)?Array|Uint8ClampedArray)$/;

/**
 * Removes all other globals: `postMessage`, `close`, `importScripts`, `fetch`, and so on.
 *
 * @param tools those of the process, in place of the worker's: its timers and its clock.
 */
function replaceGlobals(tools: Tools): void {
  const ends = new Set<object>([EventTarget.prototype, Object.prototype]);
  let holder: object = globalThis;
  while (!ends.has(holder)) {
    const next = Object.getPrototypeOf(holder) as object;
    for (const name of Object.getOwnPropertyNames(holder)) {
      if (LANGUAGE.test(name) || KEPT.has(name)) continue;
      // A property that cannot be deleted becomes undefined, if it can.
      if (!Reflect.deleteProperty(holder, name)) Reflect.set(holder, name, undefined);
    }
    holder = next;
  }
  const silent = ["debug", "error", "info", "log", "warn"].map((name) => [name, () => {}]);
  Object.assign(globalThis, tools, { console: Object.fromEntries(silent) as unknown });
}

addEventListener(
  "message",
  ({ ports: [port] }) => {
    replaceGlobals(serveProcess(port!, packageTools));
  },
  { once: true },
);
