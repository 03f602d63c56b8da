/** The style sheet of the panel. Its colours have a contrast of at least 4.5 in both themes. */
export const STYLES = `
.trl-devtools {
  --text: #1b1a21; --quiet: #5c5a68; --page: #ffffff; --card: #f5f4f8; --line: #d9d7e1;
  --edge: #77748a; --fill: #4338ca; --good: #11734b; --bad: #b3261e; --odd: #8a4b00;
  color-scheme: light;
  /* Of its host, which may not scroll by itself. */
  height: 100%; overflow: auto; box-sizing: border-box; padding: 12px;
  display: grid; grid-template-columns: minmax(0, 1fr); align-content: start; gap: 12px;
  color: var(--text); background: var(--page);
  font: 13px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums;
}
.trl-devtools[data-theme="dark"] {
  --text: #eeedf3; --quiet: #a5a3b3; --page: #121117; --card: #1c1b23; --line: #383643;
  --edge: #83809a; --fill: #a5a0ff; --good: #5fd39f; --bad: #ff9d94; --odd: #f0b35c;
  color-scheme: dark;
}
.trl-devtools :is(h2, p, ul, ol, dl, dd) { margin: 0; padding: 0; }
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
.trl-devtools :is(.trl-toolbar, .trl-observer, .trl-timeline) { display: grid; gap: 8px; }
.trl-devtools .trl-observer { grid-template-columns: minmax(0, 1fr); }
.trl-devtools .trl-actions { display: flex; flex-wrap: wrap; align-items: center; gap: 6px; }
.trl-devtools .trl-details .trl-actions { gap: 4px; }
.trl-devtools .trl-details button { padding-inline: 6px; }
.trl-devtools .trl-actions > span { color: var(--quiet); }
.trl-devtools .trl-row { display: flex; align-items: center; gap: 12px; }
.trl-devtools li > .trl-row { justify-content: space-between; align-items: start; }
.trl-devtools .trl-row > button { flex: none; }
.trl-devtools .trl-pretence { color: var(--odd); font-weight: 600; }
.trl-devtools ul {
  list-style: none; display: grid; gap: 12px; align-items: start;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr));
}
.trl-devtools ul > li {
  display: grid; grid-template-columns: minmax(0, 1fr); align-content: start; gap: 6px;
  padding: 8px 12px 12px; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
}
.trl-devtools h2 { font-size: 14px; font-weight: 650; overflow-wrap: anywhere; }
.trl-devtools h2 button {
  padding: 2px 4px; margin: 0 -4px; border: 0; background: none; font-weight: 650;
  text-align: start; overflow-wrap: anywhere;
}
.trl-devtools h2 button::before {
  content: "\\25B8"; content: "\\25B8" / ""; display: inline-block; width: 1.1em; color: var(--quiet);
}
.trl-devtools h2 button[aria-expanded="true"]::before { content: "\\25BE"; content: "\\25BE" / ""; }
.trl-devtools code { margin-left: 6px; font-size: 12px; font-weight: 400; color: var(--quiet); }
.trl-devtools .trl-status { font-weight: 600; color: var(--quiet); }
.trl-devtools .trl-status[data-state="ok"] { color: var(--good); }
.trl-devtools .trl-status[data-state="denied"], .trl-devtools .trl-error { color: var(--bad); }
.trl-devtools .trl-error { overflow-wrap: anywhere; }
.trl-devtools .trl-bar { height: 6px; border-radius: 3px; background: var(--line); overflow: hidden; }
.trl-devtools .trl-bar div { height: 100%; background: var(--fill); }
.trl-devtools .trl-details:not([hidden]) { display: grid; gap: 8px; }
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
.trl-devtools .trl-observer > dl {
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 270px), 1fr)); column-gap: 24px;
}
.trl-devtools dl > div { display: grid; grid-template-columns: 7.5em minmax(0, 1fr); gap: 8px; }
.trl-devtools dt { color: var(--quiet); }
.trl-devtools dd { overflow-wrap: anywhere; }
.trl-devtools ol { list-style: none; display: grid; gap: 2px; }
.trl-devtools ol > li { display: grid; grid-template-columns: 6.5em 9em minmax(0, 1fr); gap: 0 8px; }
.trl-devtools ol > li > span { overflow-wrap: anywhere; }
.trl-devtools time { color: var(--quiet); }
.trl-devtools [data-kind="granted"] strong { color: var(--good); }
.trl-devtools :is([data-kind="denied"], [data-kind="failed"]) strong { color: var(--bad); }
.trl-devtools :is([data-kind="corrected"], [data-kind="pretended"]) strong { color: var(--odd); }
@media (max-width: 480px) {
  .trl-devtools ol > li { grid-template-columns: 6.5em minmax(0, 1fr); }
  .trl-devtools ol > li > span { grid-column: 1 / -1; padding-left: 1em; }
}
/* The system takes the backgrounds away. */
@media (forced-colors: active) {
  .trl-devtools .trl-bar { box-sizing: border-box; height: 8px; border: 1px solid CanvasText; }
  .trl-devtools .trl-bar div { forced-color-adjust: none; background: CanvasText; }
  .trl-devtools path[data-line] { stroke: CanvasText; }
  .trl-devtools span[data-line]::before { border-top-color: CanvasText; }
}
`;
