/** The style sheet of the panel. Its colours have a contrast of at least 4.5 in both themes. */
export const STYLES = `
.trl-devtools {
  --text: #1b1a21; --quiet: #5c5a68; --page: #ffffff; --card: #f5f4f8; --line: #d9d7e1;
  --fill: #4338ca; --good: #11734b; --bad: #b3261e;
  /* Of its host, which may not scroll by itself. */
  height: 100%; overflow: auto; box-sizing: border-box; padding: 12px;
  display: grid; align-content: start; gap: 16px;
  color: var(--text); background: var(--page);
  font: 13px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums;
}
.trl-devtools[data-theme="dark"] {
  --text: #eeedf3; --quiet: #a5a3b3; --page: #121117; --card: #1c1b23; --line: #383643;
  --fill: #a5a0ff; --good: #5fd39f; --bad: #ff9d94;
}
.trl-devtools :is(h2, p, ul, dl, dd) { margin: 0; padding: 0; }
.trl-devtools .trl-observer { display: grid; gap: 12px; }
.trl-devtools ul {
  list-style: none; display: grid; gap: 12px;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr));
}
.trl-devtools li {
  display: grid; align-content: start; gap: 6px; padding: 12px;
  background: var(--card); border: 1px solid var(--line); border-radius: 8px;
}
.trl-devtools h2 { font-size: 14px; font-weight: 650; overflow-wrap: anywhere; }
.trl-devtools h2 code { margin-left: 6px; font-size: 12px; font-weight: 400; color: var(--quiet); }
.trl-devtools .trl-status { font-weight: 600; color: var(--quiet); }
.trl-devtools .trl-status[data-state="ok"] { color: var(--good); }
.trl-devtools .trl-status[data-state="denied"], .trl-devtools .trl-error { color: var(--bad); }
.trl-devtools .trl-error { overflow-wrap: anywhere; }
.trl-devtools .trl-bar { height: 6px; border-radius: 3px; background: var(--line); overflow: hidden; }
.trl-devtools .trl-bar div { height: 100%; background: var(--fill); }
.trl-devtools dl { display: grid; gap: 2px; }
.trl-devtools .trl-observer > dl {
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 280px), 1fr)); column-gap: 24px;
}
.trl-devtools dl > div { display: grid; grid-template-columns: 7.5em minmax(0, 1fr); gap: 8px; }
.trl-devtools dt { color: var(--quiet); }
.trl-devtools dd { overflow-wrap: anywhere; }
/* The system takes the backgrounds away. */
@media (forced-colors: active) {
  .trl-devtools .trl-bar { box-sizing: border-box; height: 8px; border: 1px solid CanvasText; }
  .trl-devtools .trl-bar div { forced-color-adjust: none; background: CanvasText; }
}
`;
