/** Why one would take the package: three promises, each with its proof. */
import type { ReactNode } from "react";
import { Stable } from "../shared/page/pieces.js";
import { sourceOf } from "../shared/page/code.js";
import { useRateLimit } from "../shared/page/trpc.js";

export function Promises() {
  return (
    <ul className="promises">
      <Promised
        title="Exact, in your database"
        proof="A write that fails takes no token"
        more={<Proof />}
      >
        Tokens and your data commit together, or roll back together.
      </Promised>
      <Promised
        title="Typed, end to end"
        proof={
          <>
            <code>
              <u>"sendHelo"</u>
            </code>{" "}
            is error TS2345
          </>
        }
      >
        A wrong name of a limit does not compile, on the server or in the browser.
      </Promised>
      <Promised title="Live, to the millisecond" proof={<NextCall />}>
        The page predicts the server: a call passes then, and not a millisecond before.
      </Promised>
    </ul>
  );
}

function Promised({
  title,
  proof,
  more,
  children,
}: {
  title: string;
  proof: ReactNode;
  more?: ReactNode;
  children: ReactNode;
}) {
  return (
    <li>
      <h2>{title}</h2>
      <p className="proof">{proof}</p>
      <p>
        <span>{children}</span> <span>{more}</span>
      </p>
    </li>
  );
}

/** Links to the tests, where the address of the repository is known. */
function Proof() {
  const source = sourceOf("docs/guarantees.md#exact");
  return source && <a href={source}>The tests</a>;
}

/** When the next call passes, as the page knows it. */
function NextCall() {
  const { status } = useRateLimit("sendHello");
  const at = status?.retryAt;
  return (
    <>
      Your next call:{" "}
      <Stable shown={at === undefined ? "now" : preciseTimeOf(at)} texts={["00:00:00.000"]} />
    </>
  );
}

function preciseTimeOf(instant: number): string {
  const time = new Date(Math.ceil(instant));
  return `${time.toLocaleTimeString("en-GB")}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}
