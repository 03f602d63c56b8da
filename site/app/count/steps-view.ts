/** The steps of a run, one after the other: a slider, what happens at its place, and the steps before. */
import { LIMIT, type Run, type Step } from "./engine/run.js";

/** How many steps the table has. */
export const SHOWN = 8;
/** ms between two steps that are played. */
const PACE = 160;

const byId = (id: string) => document.getElementById(id)!;

export function createStepsView() {
  const slider = byId("count-step") as HTMLInputElement;
  const play = byId("count-play") as HTMLButtonElement;
  const moment = byId("count-moment") as HTMLButtonElement;
  const line = byId("count-now");
  const rows = byId("count-rows");
  let run: Run | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;

  function go(step: number): void {
    slider.value = String(step + 1);
    draw();
  }

  function pause(): void {
    clearInterval(timer);
    timer = undefined;
    play.textContent = "Play";
  }

  /** Where playing stops: at the eleventh, or at the end. */
  const stopAt = () => run?.eleventh ?? run!.steps.length - 1;

  function draw(): void {
    const steps = run?.steps ?? [];
    const at = Number(slider.value) - 1;
    const step = steps[at];
    if (step !== undefined) {
      line.textContent = `${labelOf(step)}${at === run!.eleventh ? ". This is the moment the eleventh got in." : "."}`;
      slider.setAttribute("aria-valuetext", `${at + 1} of ${steps.length}, ${labelOf(step)}`);
    }
    const first = Math.max(0, at - SHOWN + 1);
    rows.replaceChildren(
      ...Array.from({ length: SHOWN }, (_, i) => {
        const index = first + i;
        return rowOf(index <= at ? steps[index] : undefined, {
          isNow: index === at,
          isEleventh: index === run?.eleventh,
        });
      }),
    );
  }

  slider.addEventListener("input", () => {
    pause();
    draw();
  });
  moment.addEventListener("click", () => {
    pause();
    if (run?.eleventh !== undefined) go(run.eleventh);
  });
  play.addEventListener("click", () => {
    if (timer !== undefined) return pause();
    if (Number(slider.value) - 1 >= stopAt()) go(0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      go(Number(slider.value));
      if (Number(slider.value) - 1 >= stopAt()) pause();
    }, PACE);
    return undefined;
  });

  return {
    /** Shows the moment the eleventh got in, or else the last step. */
    show(next: Run): void {
      pause();
      run = next.steps.length > 0 ? next : undefined;
      const isEmpty = run === undefined;
      slider.max = String(Math.max(1, next.steps.length));
      slider.disabled = isEmpty;
      play.disabled = isEmpty;
      moment.disabled = next.eleventh === undefined;
      if (isEmpty) {
        line.textContent = "The run has no steps.";
        slider.value = "1";
        slider.removeAttribute("aria-valuetext");
        draw();
      } else go(stopAt());
    },
  };
}

/** For example "9.3 ms, process 1, call 4: reads 3". */
function labelOf({ at, process, call, text }: Step): string {
  const caller = call < 0 ? "" : `, call ${call + 1}`;
  return `${at.toFixed(1)} ms, process ${process + 1}${caller}: ${text}`;
}

function rowOf(step: Step | undefined, { isNow, isEleventh }: Record<string, boolean>) {
  const row = document.createElement("tr");
  if (step === undefined) {
    row.innerHTML = "<td>&nbsp;</td><td></td><td></td>";
    return row;
  }
  const isOver = step.kind === "granted" && Number(/\d+/.exec(step.text)?.[0]) > LIMIT;
  if (isNow === true) row.dataset["now"] = "";
  if (isEleventh === true) row.dataset["eleventh"] = "";
  const cells = [step.at.toFixed(1), "", ""].map((text) => {
    const cell = document.createElement("td");
    cell.textContent = text;
    return cell;
  });
  const own = cells[step.process + 1]!;
  own.dataset["kind"] = isOver ? "over" : step.kind;
  // Text of a visitor's code stays text.
  own.textContent = `${step.call < 0 ? "" : `#${step.call + 1} `}${step.text}`;
  row.append(...cells);
  return row;
}
