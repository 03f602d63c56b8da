/** "Can your rate limiter count to ten?", the top of the first page. No code runs before a press on Run. */
import "./count.css";
import { LIMIT, type Run, runCount } from "./engine/run.js";
import { explain, isExact, verdictOf } from "./explain.js";
import { presetOf, PRESETS } from "./presets.js";
import type { Pictured } from "./result-picture.js";
import { openSandbox, type Sandbox } from "./sandbox.js";
import { readFragment } from "./share.js";
import { createShareView } from "./share-view.js";
import { createStepsView } from "./steps-view.js";

/** How long all dots fall, ms. */
const FALL = 1_200;
/** How long a run may take, ms of the clock on the wall. */
const MOST_TIME = 8_000;

const byId = (id: string) => document.getElementById(id)!;
const editor = byId("count-code") as HTMLTextAreaElement;
const [run, again, share] = [byId("count-run"), byId("count-again"), byId("count-share")];
const [seedOutput, verdict, dots] = [byId("count-seed"), byId("count-verdict"), byId("count-dots")];
const [why, note, count] = [byId("count-why"), byId("count-note"), verdict.querySelector("b")!];
const steps = createStepsView();
const sharing = createShareView();

let seed = 1;
let isRunning = false;
let frame = 0;
/** The last run, and the code that it is of. */
let last: (Pictured & { code: string }) | undefined;

// See static-parts.ts.
const buttons = [...document.querySelectorAll<HTMLButtonElement>(".count-presets button")].map(
  (button, i) => ({ button, preset: PRESETS[i]! }),
);

/** Marks the preset whose code is in the editor. */
function mark(): void {
  const chosen = presetOf(editor.value);
  for (const { button, preset } of buttons) {
    button.setAttribute("aria-pressed", String(preset === chosen));
  }
  say(note, chosen?.note ?? "Your own code.");
}

/** Whether the visitor wants no motion. */
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** A text that is the same is not heard again. */
function say(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

async function start(): Promise<void> {
  if (isRunning) return;
  isRunning = true;
  for (const button of [run, again]) button.setAttribute("aria-disabled", "true");
  say(why, "The calls are on their way…");
  // On a phone, the dots may be below the view.
  const behavior = isStill() ? "auto" : "smooth";
  verdict.parentElement!.scrollIntoView({ block: "nearest", behavior });
  const until = performance.now() + MOST_TIME;
  let sandbox: Sandbox | undefined;
  // The visitor may write on meanwhile.
  const of = { code: editor.value, seed };
  try {
    sandbox = await openSandbox();
    const isLate = () => performance.now() > until;
    const result = await runCount(of, sandbox.ports, isLate);
    sandbox.remove();
    last = { ...of, run: result, name: presetOf(of.code)?.title ?? "My own code" };
    steps.show(result);
    show(result);
  } catch (error) {
    say(why, `The run could not begin: ${String(error)}`);
  } finally {
    sandbox?.remove();
    isRunning = false;
    for (const button of [run, again]) button.removeAttribute("aria-disabled");
  }
}

/** Dots fall, one for each granted call. Visitors who want no motion see all of them at once. */
function show(result: Run): void {
  cancelAnimationFrame(frame);
  const begin = performance.now();
  const all = [...dots.querySelectorAll("i")];
  for (const dot of all) dot.dataset["outcome"] = "";
  delete verdict.dataset["exact"];
  const draw = (now: number) => {
    const part = isStill() ? 1 : Math.min(1, (now - begin) / FALL);
    const fallen = Math.floor(part * result.granted);
    for (const [i, dot] of all.entries()) {
      if (i < fallen) dot.dataset["outcome"] = i < LIMIT ? "granted" : "over";
    }
    say(count, String(fallen));
    // From the eleventh on, it is too late.
    if (fallen > LIMIT) verdict.dataset["exact"] = "false";
    if (part < 1) {
      frame = requestAnimationFrame(draw);
      return;
    }
    verdict.dataset["exact"] = String(isExact(result));
    const over = Math.max(0, result.granted - LIMIT);
    dots.setAttribute(
      "aria-label",
      `${result.granted - over} granted, ${over} granted beyond the limit`,
    );
    // A screen reader hears the verdict, which others see above.
    const heard = Object.assign(document.createElement("span"), { className: "hidden" });
    say(heard, `${verdictOf(result)}. `);
    why.replaceChildren(heard, explain(result));
  };
  draw(begin);
}

/** Takes code and seed from the address. The code waits in the editor for a press on Run. */
async function takeShared(): Promise<void> {
  const found = await readFragment(location.hash);
  if (found === undefined) return;
  ({ seed } = found);
  editor.value = found.code;
  say(seedOutput, String(seed));
  mark();
  say(note, "This code came with the address. Read it, then press Run.");
}

export function startQuestion(): void {
  for (const { button, preset } of buttons) {
    button.addEventListener("click", () => {
      editor.value = preset.code;
      mark();
    });
  }
  run.addEventListener("click", () => void start());
  again.addEventListener("click", () => {
    if (isRunning) return;
    seed = (seed + 1) % 2 ** 32;
    say(seedOutput, String(seed));
    void start();
  });
  share.addEventListener("click", () => {
    const shared = { code: editor.value, seed };
    const isOfThis = last?.code === shared.code && last.seed === seed;
    void sharing.open(shared, isOfThis ? last : undefined);
  });
  editor.addEventListener("input", mark);
  addEventListener("hashchange", () => void takeShared());
  // A browser may have kept what the editor had before the page was loaded again.
  if (presetOf(editor.value) !== PRESETS[0]) editor.value = PRESETS[0].code;
  mark();
  void takeShared();
}
