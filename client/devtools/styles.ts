/** The style sheet of the panel. Its colours have a contrast of at least 4.5 in both themes. */
export const STYLES = `
.trl-devtools {
  --text: #1b1a21; --quiet: #5c5a68; --page: #ffffff; --card: #f5f4f8; --line: #d9d7e1;
  --edge: #77748a; --fill: #4338ca; --good: #11734b; --bad: #b3261e; --odd: #8a4b00;
  color-scheme: light;
  /* Of its host, which may not scroll by itself. */
  height: 100%; overflow: auto; container: trl-panel / inline-size;
  color: var(--text); background: var(--page);
  font: 13px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums;
}
.trl-devtools[data-theme="dark"] {
  --text: #eeedf3; --quiet: #a5a3b3; --page: #121117; --card: #1c1b23; --line: #383643;
  --edge: #83809a; --fill: #a5a0ff; --good: #5fd39f; --bad: #ff9d94; --odd: #f0b35c;
  color-scheme: dark;
}
.trl-devtools :is(h2, h3, p, ul, ol, dl, dd) { margin: 0; padding: 0; }
.trl-devtools :is(button, input) {
  font: inherit; color: inherit; margin: 0; min-height: 24px; padding: 2px 7px;
  background: var(--page); border: 1px solid var(--edge); border-radius: 6px;
}
.trl-devtools button { cursor: pointer; }
.trl-devtools button:hover:enabled { border-color: var(--text); }
.trl-devtools button:disabled { cursor: default; color: var(--quiet); border-style: dashed; }
.trl-devtools :focus-visible { outline: 2px solid var(--fill); outline-offset: 1px; }
.trl-devtools:focus-visible { outline-offset: -2px; }
.trl-devtools input { flex: 1 1 8em; min-width: 0; max-width: 20em; }
.trl-devtools input::placeholder { color: var(--quiet); opacity: 1; }
.trl-devtools .trl-panel {
  display: grid; grid-template-columns: minmax(0, 1fr); gap: 12px; padding: 12px; box-sizing: border-box;
}
.trl-devtools :is(.trl-toolbar, .trl-limits, .trl-observer, .trl-timeline) {
  display: grid; grid-template-columns: minmax(0, 1fr); align-content: start; gap: 8px;
}
.trl-devtools .trl-limits { container: trl-limits / inline-size; }
.trl-devtools .trl-observer { gap: 0; }
.trl-devtools .trl-actions { display: flex; flex-wrap: wrap; align-items: center; gap: 6px; }
.trl-devtools :is(.trl-actions > span, .trl-details > div + div p) { color: var(--quiet); }
.trl-devtools .trl-pretence { color: var(--odd); font-weight: 600; }
.trl-devtools ul { list-style: none; }
.trl-devtools .trl-head {
  position: sticky; top: 0; display: flex; justify-content: space-between; align-items: center;
  min-height: 28px; background: var(--page);
}
.trl-devtools :is(h2, h3) { font: inherit; font-weight: 650; }
.trl-devtools .trl-line {
  position: relative; display: grid; align-items: center; gap: 0 10px; min-height: 28px;
  grid-template-columns: minmax(0, 1fr) 3.6em 11.3em; border-bottom: 1px solid var(--line);
}
.trl-devtools .trl-observer > .trl-line { grid-template-columns: auto 1fr; align-items: baseline; }
.trl-devtools .trl-line:hover { background: var(--card); }
.trl-devtools .trl-line :is(button, span) { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.trl-devtools .trl-line[data-open] :is(button, span) { white-space: normal; overflow-wrap: anywhere; }
.trl-devtools .trl-line button {
  display: block; max-width: 100%; padding: 0 2px 0 1.4em; border: 0; background: none;
  font-weight: inherit; text-align: start; text-indent: -1.2em;
}
.trl-devtools .trl-line button:focus-visible { outline: none; }
/* All of the line is pressed and has the outline. */
.trl-devtools .trl-line button::after { content: ""; position: absolute; inset: 0; border-radius: 4px; }
.trl-devtools .trl-line button:focus-visible::after {
  outline: 2px solid var(--fill); outline-offset: -2px;
}
.trl-devtools .trl-line button::before {
  content: "\\25B8"; content: "\\25B8" / ""; display: inline-block; width: 1.2em; text-indent: 0;
  color: var(--quiet);
}
.trl-devtools .trl-line button[aria-expanded="true"]::before {
  content: "\\25BE"; content: "\\25BE" / "";
}
.trl-devtools code { margin-left: 6px; font-size: 12px; font-weight: 400; color: var(--quiet); }
.trl-devtools .trl-left { grid-area: 1 / 2; text-align: end; }
.trl-devtools .trl-left span { display: none; }
.trl-devtools .trl-line .trl-bar { grid-area: 1 / 2; align-self: end; margin-bottom: 2px; }
.trl-devtools .trl-line .trl-status { padding-right: 2px; font-weight: inherit; }
.trl-devtools .trl-status { font-weight: 600; color: var(--quiet); }
.trl-devtools .trl-status em { font-style: normal; color: var(--odd); }
.trl-devtools :is([data-state="ok"], [data-connection="live"]) { color: var(--good); }
.trl-devtools .trl-status[data-state="some"] { color: var(--odd); }
.trl-devtools :is([data-state="denied"], [data-connection="offline"], .trl-error) { color: var(--bad); }
.trl-devtools .trl-error { overflow-wrap: anywhere; }
.trl-devtools .trl-bar { height: 4px; border-radius: 2px; background: var(--line); overflow: hidden; }
.trl-devtools .trl-bar span { display: block; height: 100%; background: var(--fill); }
.trl-devtools .trl-details:not([hidden]) {
  display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px 16px; padding: 8px 10px 10px 1.4em;
  background: var(--card); border-bottom: 1px solid var(--line);
}
.trl-devtools svg {
  display: block; width: 100%; height: 32px; overflow: visible; fill: none; stroke-width: 1.5;
}
.trl-devtools path[data-line="predicted"] { stroke: var(--fill); }
.trl-devtools path[data-line="answered"] { stroke: var(--odd); stroke-dasharray: 4 3; }
.trl-devtools .trl-lines p { margin-top: 4px; font-size: 12px; color: var(--quiet); }
.trl-devtools span[data-line]::before {
  content: ""; display: inline-block; width: 16px; margin-right: 4px; vertical-align: middle;
  border-top: 2px solid var(--fill);
}
.trl-devtools span[data-line="answered"]::before { border-top: 2px dashed var(--odd); }
.trl-devtools dl { display: grid; gap: 2px; }
.trl-devtools .trl-details > div { display: grid; justify-items: start; align-content: start; gap: 4px; }
.trl-devtools .trl-lines { width: 100%; }
.trl-devtools dl > div { display: grid; grid-template-columns: 7.5em minmax(0, 1fr); gap: 8px; }
.trl-devtools dt { color: var(--quiet); }
.trl-devtools dd { overflow-wrap: anywhere; }
.trl-devtools ol { list-style: none; display: grid; gap: 2px; }
.trl-devtools ol > li { display: grid; grid-template-columns: 6.7em 5.7em minmax(0, 1fr); gap: 0 8px; }
.trl-devtools ol > li > span { overflow-wrap: anywhere; }
.trl-devtools time { color: var(--quiet); }
.trl-devtools [data-kind="granted"] strong { color: var(--good); }
.trl-devtools :is([data-kind="denied"], [data-kind="failed"]) strong { color: var(--bad); }
.trl-devtools :is([data-kind="corrected"], [data-kind="pretended"]) strong { color: var(--odd); }
@container trl-limits (min-width: 520px) {
  .trl-devtools li > .trl-line { grid-template-columns: minmax(0, 1fr) 5em 7.5em 12.5em; }
  .trl-devtools .trl-left { grid-column: 3; text-align: start; }
  .trl-devtools .trl-left span { display: inline; }
  .trl-devtools .trl-line .trl-bar { align-self: center; margin: 0; height: 6px; }
  .trl-devtools .trl-details:not([hidden]) { grid-template-columns: minmax(0, 1fr) 17em; }
}
@container trl-panel (max-width: 480px) {
  .trl-devtools input { flex-basis: 100%; max-width: none; }
  .trl-devtools ol > li { grid-template-columns: 6.5em minmax(0, 1fr); }
  .trl-devtools ol > li > span { grid-column: 1 / -1; padding-left: 1em; }
}
/* Room for two columns, each of which scrolls by itself. */
@container trl-panel (min-width: 720px) {
  .trl-devtools .trl-panel {
    height: 100%; grid-template-columns: minmax(0, 6fr) minmax(0, 5fr); column-gap: 20px;
    grid-template-rows: auto minmax(140px, 1fr);
  }
  .trl-devtools .trl-toolbar { grid-column: 1 / -1; }
  .trl-devtools :is(.trl-limits, .trl-timeline) { overflow: auto; }
}
/* The system takes the backgrounds away. */
@media (forced-colors: active) {
  .trl-devtools .trl-line .trl-bar { box-sizing: border-box; height: 8px; border: 1px solid CanvasText; }
  .trl-devtools .trl-bar span { forced-color-adjust: none; background: CanvasText; }
  .trl-devtools path[data-line] { stroke: CanvasText; }
  .trl-devtools span[data-line]::before { border-top-color: CanvasText; }
}
`;
