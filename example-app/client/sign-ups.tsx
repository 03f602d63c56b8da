/** A fixed window that all visitors share: a hundred accounts in five minutes. */
import { Accounts } from "./accounts.js";
import { Part } from "./part.js";
import { SignUpForm } from "./sign-up-form.js";
import "./sign-ups.css";
import { WindowClock } from "./window-clock.js";

export default function SignUps() {
  return (
    <Part
      title="Sign-ups"
      lead="All visitors together may open a hundred accounts in five minutes. Then the next window starts, for all of them at the same second."
    >
      <div className="sign-ups">
        <div className="card">
          <WindowClock />
          <SignUpForm />
        </div>
        <Accounts />
      </div>
    </Part>
  );
}
