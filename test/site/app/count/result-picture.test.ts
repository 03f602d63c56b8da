/** What is drawn on the picture of a run. That a browser makes a PNG of it is in site.count.test.ts. */
import { describe, expect, it } from "vitest";
import { momentOf, verdictOf } from "../../../../site/app/count/explain.js";
import { PRESETS } from "../../../../site/app/count/presets.js";
import { draw, type Pictured, SIZE, textOf } from "../../../../site/app/count/result-picture.js";
import { runHere } from "../../../../site/app/count/run-here.js";

interface Text {
  text: string;
  left: number;
  right: number;
  y: number;
}

/** A canvas that keeps what is drawn. Each letter is `wide` of its size, as wide fonts have it. */
function recorder(wide = 0.7) {
  const texts: Text[] = [];
  const shapes: { kind: "circle" | "ring" | "diamond"; x: number; y: number }[] = [];
  let path: { points: [number, number][]; circle?: [number, number] } = { points: [] };
  const widthOf = (text: string) => wide * Number(/ (\d+)px/.exec(context.font)![1]) * text.length;
  const end = (isFull: boolean) => {
    const [x, y] = path.circle ?? path.points[0]!;
    const kind = path.circle === undefined ? "diamond" : isFull ? "circle" : "ring";
    shapes.push({ kind, x, y });
  };
  const context = {
    font: "",
    textAlign: "left",
    fillStyle: "",
    strokeStyle: "",
    lineWidth: 1,
    fillRect() {},
    measureText: (text: string) => ({ width: widthOf(text) }),
    fillText(text: string, x: number, y: number) {
      const left = context.textAlign === "right" ? x - widthOf(text) : x;
      texts.push({ text, left, right: left + widthOf(text), y });
    },
    beginPath: () => void (path = { points: [] }),
    arc: (x: number, y: number) => void (path.circle = [x, y]),
    moveTo: (x: number, y: number) => void path.points.push([x, y]),
    lineTo: (x: number, y: number) => void path.points.push([x, y]),
    closePath() {},
    fill: () => end(true),
    stroke: () => end(false),
  };
  return { context: context as unknown as CanvasRenderingContext2D, texts, shapes };
}

const drawn = (pictured: Pictured, wide?: number) => {
  const recorded = recorder(wide);
  draw(recorded.context, pictured);
  return recorded;
};

describe.each(PRESETS)("of $title", ({ title: name, code }) => {
  const pictured = async () => ({ run: await runHere(code, 1), name, seed: 1 });

  it("says the question, the code, the verdict, the moment and the package", async () => {
    const of = await pictured();
    const said = drawn(of).texts.map(({ text }) => text);
    const all = [name, verdictOf(of.run), momentOf(of.run), "Seed 1", "trpc-rate-limit"];
    expect(said.toSorted()).toEqual([...all, "Can your rate limiter count to ten?"].toSorted());
    for (const text of said) expect(textOf(of)).toContain(text);
  });

  it("has a dot for each granted call, and a diamond for each one beyond the limit", async () => {
    const of = await pictured();
    const { shapes } = drawn(of);
    // Beside the glow and the mark of the package, which has nine tokens.
    const dots = shapes.filter(({ x, y }) => x > SIZE.width / 2 && y > 200);
    const countOf = (kind: string) => dots.filter((dot) => dot.kind === kind).length;
    const { granted } = of.run;
    expect([countOf("circle"), countOf("diamond"), countOf("ring")]).toEqual([
      Math.min(granted, 10),
      Math.max(granted - 10, 0),
      50 - granted,
    ]);
  });

  it.each([0.5, 0.7, 1])("cuts off no text with letters %f wide", async (wide) => {
    const { texts, shapes } = drawn(await pictured(), wide);
    const firstDot = Math.min(...shapes.filter(({ y }) => y > 200).map(({ x }) => x));
    for (const { text, left, right, y } of texts) {
      expect([text, left >= 72, right <= SIZE.width - 72]).toEqual([text, true, true]);
      // Beside the dots, no text reaches them.
      if (y > 240 && y < 500) expect([text, right < firstDot]).toEqual([text, true]);
    }
    const [moment, seed] = ["after", "Seed"].map((part) =>
      texts.find(({ text }) => text.includes(part)),
    );
    if (moment && seed) expect(moment.right).toBeLessThan(seed.left);
  });
});
