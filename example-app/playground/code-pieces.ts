/** Colours for the code of a limit, which is written while the page runs. */
import type { CodePiece } from "../shared/page/code.js";

/** The kinds of pieces in such code, by their names in the page's styles. */
const PIECES =
  /(?<comment>\/\/.*)|(?<string>"[^"]*")|(?<keyword>\b(?:import|from|export|const)\b)|(?<number>\b\d[\d_.]*)/g;

export function piecesOf(code: string): CodePiece[][] {
  return code.trimEnd().split("\n").map(piecesOfLine);
}

function piecesOfLine(line: string): CodePiece[] {
  const pieces: CodePiece[] = [];
  let end = 0;
  for (const { 0: text, index, groups = {} } of line.matchAll(PIECES)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined)!;
    pieces.push(line.slice(end, index), [kind, text]);
    end = index + text.length;
  }
  pieces.push(line.slice(end));
  return pieces.filter((piece) => piece !== "");
}
