/** The page "Can your rate limiter count to ten?". No code runs before a press on Run. */
import "../../../example-app/shared/page/styles.css";
import "../../../example-app/shared/page/outcomes.css";
import "../site.css";
import "./count.css";
import { LIMIT, type Run, runCount } from "./engine/run.js";
import { explain, isExact, verdictOf } from "./explain.js";
import { PRESETS } from "./presets.js";
import { openSandbox, type Sandbox } from "./sandbox.js";
import { fragmentOf, readFragment } from "./share.js";
import { createStepsView } from "./steps-view.js";

/** How long all dots fall, ms. */
const FALL = 1_200;
/** How long a run may take, ms of the clock on the wall. */
const MOST_TIME = 8_000;

const byId = (id: string) => document.getElementById(id)!;
const editor = byId("count-code") as HTMLTextAreaElement;
const [run, again, share] = [byId("count-run"), byId("count-again"), byId("count-share")];
const [seedOutput, verdict, dots] = [byId("count-seed"), byId("count-verdict"), byId("count-dots")];
const [why, note, shared] = [byId("count-why"), byId("count-note"), byId("count-shared")];
const steps = createStepsView();

let seed = 1;
let isRunning = false;
let frame = 0;

// See static-parts.ts.
const buttons = [...document.querySelectorAll<HTMLButtonElement>(".count-presets button")].map(
  (button, i) => ({ button, preset: PRESETS[i]! }),
);
for (const { button, preset } of buttons) {
  button.addEventListener("click", () => {
    editor.value = preset.code;
    say(shared, "");
    mark();
  });
}

/** Marks the preset whose code is in the editor. */
function mark(): void {
  const chosen = PRESETS.find(({ code }) => code === editor.value);
  for (const { button, preset } of buttons) {
    button.setAttribute("aria-pressed", String(preset === chosen));
  }
  say(note, chosen?.note ?? "Your own code.");
}

function say(element: HTMLElement, text: string): void {
  element.textContent = text;
}

async function start(): Promise<void> {
  if (isRunning) return;
  isRunning = true;
  for (const button of [run, again]) button.setAttribute("aria-disabled", "true");
  say(why, "The calls are on their way…");
  const until = performance.now() + MOST_TIME;
  let sandbox: Sandbox | undefined;
  try {
    sandbox = await openSandbox();
    const isLate = () => performance.now() > until;
    const result = await runCount({ code: editor.value, seed }, sandbox.ports, isLate);
    sandbox.remove();
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
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const begin = performance.now();
  const all = [...dots.children] as HTMLElement[];
  for (const dot of all) dot.dataset["outcome"] = "";
  delete verdict.dataset["exact"];
  const draw = (now: number) => {
    const part = isStill ? 1 : Math.min(1, (now - begin) / FALL);
    const fallen = Math.floor(part * result.granted);
    for (const [i, dot] of all.entries()) {
      if (i < fallen) dot.dataset["outcome"] = i < LIMIT ? "granted" : "over";
    }
    say(verdict, `${fallen} of ${LIMIT}`);
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
    say(verdict, verdictOf(result));
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
  say(shared, "This code came with the address. Read it, then press Run.");
  mark();
}

async function shareIt(): Promise<void> {
  const fragment = await fragmentOf({ code: editor.value, seed });
  if (fragment === undefined) {
    say(shared, "This code is too long for an address.");
    return;
  }
  history.replaceState(null, "", fragment);
  try {
    await navigator.clipboard.writeText(location.href);
    say(shared, "The address with this code and seed is copied.");
  } catch {
    say(shared, "The address of this page has the code and the seed now. Copy it from there.");
  }
}

run.addEventListener("click", () => void start());
again.addEventListener("click", () => {
  if (isRunning) return;
  seed = (seed + 1) % 2 ** 32;
  say(seedOutput, String(seed));
  void start();
});
share.addEventListener("click", () => void shareIt());
editor.addEventListener("input", mark);
addEventListener("hashchange", () => void takeShared());
editor.value = PRESETS[0].code;
mark();
void takeShared();
