/** Two visitors in one page. Each visitor has a frame, a session, and so a key of its own. */
import code from "code:./minimal.tsx";
import { useState } from "react";
import { Part } from "../shared/page/pieces.js";
import "../shared/page/choice.css";
import "./page.css";

const SEATS = [
  { seat: 1, title: "You", about: "by the cookie of this browser" },
  { seat: 2, title: "Another visitor", about: "by a second cookie" },
] as const;

const SHOWN = [
  {
    id: "chat",
    title: "Chat",
    about: "a bucket each",
    try: "Send four lines here, then go on there: each visitor has a bucket of their own. A message shows in both at once.",
  },
  {
    id: "sign-ups",
    title: "Sign-ups",
    about: "one window for both",
    try: "Sign up in one frame: the window is shared, so what is left moves in both.",
  },
] as const;

export default function SideBySide() {
  const [shown, setShown] = useState<(typeof SHOWN)[number]>(SHOWN[0]);
  return (
    <Part
      title="Two visitors"
      code={code}
      lead="The same page twice, with two sessions. See what two visitors share, and what they do not."
    >
      <div className="side-by-side">
        <fieldset className="choice">
          <legend>Both frames show</legend>
          {SHOWN.map((each) => (
            <label key={each.id}>
              <input
                type="radio"
                name="shown"
                checked={each === shown}
                onChange={() => setShown(each)}
              />
              <span>
                {each.title}
                <small>{each.about}</small>
              </span>
            </label>
          ))}
        </fieldset>
        <p className="try">{shown.try}</p>
        <div className="seats">
          {SEATS.map(({ seat, title, about }) => (
            <section key={seat} aria-labelledby={`seat-${seat}`}>
              <h2 id={`seat-${seat}`}>
                <span>{title}</span> <small>{about}</small>
              </h2>
              {/* A new frame for each part: another address for the same frame would be a page to go back
                  to. */}
              {/* oxlint-disable-next-line react/iframe-missing-sandbox -- It is this page, with its rights. */}
              <iframe
                key={shown.id}
                title={`${shown.title}: ${title}`}
                src={`./?seat=${seat}#${shown.id}`}
                data-shown={shown.id}
              />
            </section>
          ))}
        </div>
      </div>
    </Part>
  );
}
