/** The page that is filmed: three scenes, and a pointer over them. */

/** The width at which the README shows the film, so that a letter of 14 px has 14 px there. */
export const SIZE = { width: 800, height: 540 };
/** Faces that Debian has, so that the film does not look like the machine on which it was made. */
export const TEXT = "Inter, system-ui, sans-serif";
const CODE = '"JetBrains Mono", ui-monospace, monospace';

const STYLE = `
  :root { color-scheme: light dark; }
  body { margin: 0; width: ${SIZE.width}px; height: ${SIZE.height}px; overflow: hidden;
    background: light-dark(#dfdcf0, #2a2838); font: 14px/1.4 ${TEXT}; }
  .scene { position: absolute; inset: 0; padding: 12px; box-sizing: border-box; display: grid;
    gap: 12px; }
  #race, #losing { grid-template: minmax(0, 1fr) / minmax(0, 1fr); }
  #button { grid-template: 246px minmax(0, 1fr) / repeat(2, minmax(0, 1fr)); }
  body:not([data-scene="race"]) #race, body:not([data-scene="losing"]) #losing,
  body:not([data-scene="button"]) #button { visibility: hidden; }
  figure, .code { margin: 0; background: light-dark(#fff, #1c1b23); border-radius: 10px;
    overflow: hidden; }
  figure { display: grid; grid-template-rows: 30px minmax(0, 1fr); }
  figcaption { padding: 0 12px; display: flex; align-items: center; gap: 8px;
    background: light-dark(#f0eff5, #34323f); color: light-dark(#5c5a68, #b9b7c6); }
  figcaption::before { content: ""; width: 34px; height: 10px; background:
    radial-gradient(circle, light-dark(#bfbccd, #6b6880) 4px, transparent 4.5px) 0 0 / 12px 10px; }
  iframe { border: 0; width: 100%; height: 100%; }
  .code { grid-column: span 2; padding: 4px 0; align-content: center; color: light-dark(#1b1a21, #eeedf3);
    font: 14px/19.5px ${CODE}; font-variant-ligatures: none; }
  #losing .code { grid-column: auto; font-size: 12.6px; line-height: 25px; border-radius: 0; }
  #losing p { margin: 0 0 18px; padding: 0 16px; font: 600 22px/1.3 ${TEXT}; }
  #losing b { color: light-dark(#b42318, #ff8f85); }
  .line { white-space: pre; padding: 0 12px; border-left: 3px solid transparent; }
  .line.acts { background: light-dark(#e2defc, #383369); border-color: light-dark(#4338ca, #a5a0ff); }
  .comment { color: light-dark(#5c5a68, #a5a3b3); } .keyword { color: light-dark(#8a2b9c, #e0a0f0); }
  .string { color: light-dark(#11734b, #7fdcae); } .number { color: light-dark(#9a4a00, #ffb86b); }
  .type { color: light-dark(#0a6190, #7cc7f5); }
  #pointer { position: absolute; left: 0; top: 0; width: 22px; transition: translate 0.45s ease-in-out;
    translate: 700px 500px; z-index: 1; pointer-events: none; }
  body[data-scene="losing"] #pointer { visibility: hidden; }
  #pointer path { fill: #1b1a21; stroke: #fff; stroke-width: 1.5; }
  #pointer circle { fill: #f0b95a; opacity: 0; }
  #pointer.pressed circle { opacity: 0.75; }`;

const figure = (name: string, caption: string) =>
  `<figure><figcaption>${caption}</figcaption><iframe name="${name}" src="/"></iframe></figure>`;

/** @param button the code behind the button. @param losing the code that counts too many. */
export const pageOf = (
  button: string,
  losing: string,
) => `<!doctype html><meta charset="utf-8" /><style>${STYLE}</style>
  <body data-scene="race">
  <div class="scene" id="race">${figure("race", "The demo")}</div>
  <div class="scene" id="losing"><figure><figcaption>The ten lines that lose</figcaption>
    <div class="code"><p></p>${losing}</div></figure></div>
  <div class="scene" id="button">${figure("one", "One browser")}${figure("two", "The same visitor, another browser")}
    <div class="code">${button}</div></div>
  <svg id="pointer" viewBox="-11 -11 22 33" overflow="visible"><circle r="13" />
    <path d="M0 0v17l4.2-4 2.8 6.3 2.9-1.3-2.8-6.2h5.7z" /></svg></body>`;
