/**
 * The bucket over the last minute or less, as a picture and in words. Redraws while something moves, no
 * faster than the plot moves by a pixel, and never in a hidden tab.
 */
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useRateLimit } from "../shared/page/trpc.js";
import { createBucketChart } from "./bucket-chart.js";
import type { BucketHistory } from "./bucket-history.js";
import { explainBucket } from "./explain-bucket.js";
import "./bucket-plot.css";

/** The shortest time between two redraws, ms. */
const MIN_INTERVAL = 50;
/** How often the numbers in the text change at most, ms. */
const TEXT_INTERVAL = 250;
/** How often a screen reader hears of the bucket at most, ms. */
const SUMMARY_INTERVAL = 5_000;
/** How often a bucket that is not full is checked while its plot stands still, ms. */
const IDLE_INTERVAL = 1_000;
/** When these change, the colours of the page change. */
const SCHEMES = ["(prefers-color-scheme: dark)", "(forced-colors: active)"];

export function BucketPlot({ history }: { history: BucketHistory }) {
  // Limit: `check` knows the server's time, in which the plot is drawn.
  const limit = useRateLimit("playground");
  const serverNow = useEffectEvent(() => limit.check()?.now);
  const host = useRef<HTMLDivElement>(null);
  const [text, setText] = useState<string>();
  const [summary, setSummary] = useState<string>();

  useEffect(() => {
    const element = host.current!;
    const chart = createBucketChart(element);
    const schemes = SCHEMES.map((query) => matchMedia(query));
    // The page has a switch of its own, beside the system's.
    const onScheme = new MutationObserver(chart.recolour);
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    let timer: ReturnType<typeof setTimeout> | undefined;
    let drawsAt = Infinity;
    let textAt = -Infinity;
    let textConfig: unknown;
    let summaryAt = -Infinity;
    let summarised: unknown;

    function draw(): void {
      timer = undefined;
      const now = serverNow();
      if (now === undefined || document.hidden) return;
      const { config, counts, windowStart } = history;
      const value = history.valueAt(now);
      const moves = chart.draw(history, now);
      if (value === undefined || !config) return;
      const { rate, capacity = rate } = config;
      const rests = !moves && value >= capacity;
      const time = performance.now();
      // Another limit is another bucket, so the text about the bucket before is wrong at once.
      if (rests || time - textAt >= TEXT_INTERVAL || config !== textConfig) {
        textAt = time;
        textConfig = config;
        setText(explainBucket(value, config, now, windowStart, history.closedUntil(now)));
      }
      // Only calls and a full bucket are worth saying.
      const said = `${counts.granted} ${counts.denied} ${value >= capacity}`;
      if (time - summaryAt >= SUMMARY_INTERVAL && said !== summarised) {
        summaryAt = time;
        summarised = said;
        setSummary(
          `${Math.floor(value)} of ${capacity} tokens. Granted ${counts.granted} calls, denied ${counts.denied}.`,
        );
      }
      if (rests && said === summarised) return;
      const pixel = history.spanAt(now) / element.clientWidth;
      const shortest = still.matches ? IDLE_INTERVAL : Math.max(MIN_INTERVAL, pixel);
      drawIn(moves ? shortest : IDLE_INTERVAL);
    }
    function drawIn(ms: number): void {
      clearTimeout(timer);
      drawsAt = performance.now() + ms;
      timer = setTimeout(draw, ms);
    }
    const wake = () => drawIn(MIN_INTERVAL);
    const onResize = new ResizeObserver(() => {
      chart.resize();
      wake();
    });
    const unsubscribe = history.subscribe(() => {
      const isSoon = timer !== undefined && drawsAt <= performance.now() + MIN_INTERVAL;
      if (!isSoon) wake();
    });
    onResize.observe(element);
    for (const scheme of schemes) scheme.addEventListener("change", chart.recolour);
    onScheme.observe(document.documentElement, { attributeFilter: ["data-scheme"] });
    document.addEventListener("visibilitychange", wake);
    return () => {
      clearTimeout(timer);
      unsubscribe();
      onResize.disconnect();
      for (const scheme of schemes) scheme.removeEventListener("change", chart.recolour);
      onScheme.disconnect();
      document.removeEventListener("visibilitychange", wake);
      chart.destroy();
    };
  }, [history]);

  return (
    <figure className="bucket" aria-labelledby="bucket-title">
      <div className="heading">
        <h2 id="bucket-title">Your bucket</h2>
        <Legend closes={limit.config?.blockFor !== undefined} />
      </div>
      <div ref={host} className="plot" aria-hidden="true" />
      <p className="explained">{text ?? "Asking the server for your bucket."}</p>
      <figcaption className="hidden">
        <span role="status">{summary}</span>
      </figcaption>
    </figure>
  );
}

/**
 * The meaning of the line, the points and the shade. The strip of denials has its name beside it. The
 * shade keeps its room where no denial closes the limit, so that another limit moves nothing.
 */
function Legend({ closes }: { closes: boolean }) {
  return (
    <ul className="legend" aria-hidden="true">
      <Item kind="closed" text="closed" isShown={closes} />
      <Item kind="line" text="predicted" />
      <Item kind="granted" text="granted" />
      <Item kind="snapshot" text="snapshot" />
    </ul>
  );
}

function Item({ kind, text, isShown = true }: { kind: string; text: string; isShown?: boolean }) {
  return (
    <li data-shown={isShown}>
      <svg className={kind} width="18" height="12" viewBox="0 0 18 12">
        {kind === "line" && <path d="M1 9 L17 3" />}
        {kind === "closed" && <path d="M2.5 0.5 H15.5 V11.5 H2.5 Z" />}
        {(kind === "granted" || kind === "snapshot") && <circle cx="9" cy="6" r="3.5" />}
      </svg>
      {text}
    </li>
  );
}
