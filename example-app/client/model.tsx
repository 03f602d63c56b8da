/** A language model that costs tokens: estimates, a queue of reservations, bills, and two tiers. */
import { AskForm } from "./ask-form.js";
import { Answers } from "./answers.js";
import "./model.css";
import { Part } from "./part.js";
import { Tiers } from "./tiers.js";
import { TokensLeft } from "./tokens-left.js";
import { isOpen, MAX_OPEN, usePrompts } from "./use-prompts.js";

export default function Model() {
  const { prompts, news, ask, stop } = usePrompts();
  const isFull = prompts.filter(isOpen).length >= MAX_OPEN;

  return (
    <Part
      title="Ask the model"
      lead={
        <>
          A pretend model: it repeats your words, forwards and backwards. Every word is a token. A
          prompt takes its estimate first. What it has not used comes back at the end, except for
          what the bucket has refilled by then.
        </>
      }
    >
      <div className="model">
        <div className="card ask">
          <Tiers />
          <TokensLeft />
          <AskForm onAsk={(prompt) => void ask(prompt)} isFull={isFull} />
        </div>
        <Answers
          prompts={prompts}
          news={news}
          isFull={isFull}
          onStop={stop}
          onAskAgain={({ id, prompt }) => void ask(prompt, id)}
        />
      </div>
    </Part>
  );
}
