/**
 * The visitor's settings: the limit in force, the form's draft of the next limit, and the terms of calls.
 * The address of the page follows these settings. When an address is opened, its settings are applied. A
 * limit that the visitor chooses is a new entry of the browser's history.
 */
import { useEffect, useEffectEvent, useState } from "react";
import { useRateLimit } from "../shared/page/trpc.js";
import { isOfPlayground, readAddress, replaceAddress, writeAddress } from "./address.js";
import type { BucketHistory } from "./bucket-history.js";
import type { CallGate } from "./call-gate.js";
import { choiceOfConfig, isSameChoice, isValidChoice, type PlaygroundChoice } from "./choice.js";
import { choiceOfDraft, type Draft, draftOf, EMPTY_DRAFT } from "./draft.js";
import { useCallInput } from "./use-call-input.js";
import { useEnforce } from "./use-enforce.js";

/** A number that changes more often than this is sent once, with its last value, ms. */
const DEBOUNCE = 300;

export type Setting = ReturnType<typeof useSetting>;

export function useSetting(history: BucketHistory, gate: CallGate) {
  // Limit: the numbers that are in force.
  const { config } = useRateLimit("playground");
  const [opened] = useState(() => readAddress(location.hash));
  const [problem, setProblem] = useState(opened.problem);
  /** The limit that the address asks for, until the limit in force is known. */
  const [asked, setAsked] = useState(opened.choice);
  const [draft, setDraft] = useState<Draft>(asked ? draftOf(asked) : EMPTY_DRAFT);
  const [shown, setShown] = useState<typeof config>();
  const { call, isCallValid, count, setCount, setReserve, setCall } = useCallInput(opened.call);
  const { reserve } = call;
  /** Whether the address asks for calls. */
  const [isRunning, setIsRunning] = useState(opened.isRunning === true);
  /** Whether the form is ahead of the limit in force. */
  const [isChanging, setIsChanging] = useState(false);
  const { enforce, isChoosing, isPending, error, starts } = useEnforce(history, gate);
  const choice = config && choiceOfConfig(config);

  // The limit has changed, here or in another tab.
  if (config !== shown) {
    setShown(config);
    if (choice && !asked && !isChanging) setDraft(draftOf(choice));
  }
  if (asked && choice && isSameChoice(asked, choice)) setAsked(undefined);

  /** The address follows the change, so its old problem is gone. */
  const changing = <T>(set: (value: T) => void) => {
    return (value: T) => {
      setProblem(undefined);
      set(value);
    };
  };

  /** Each limit starts with a full bucket, so the limit in force can be chosen again. */
  function choose(next: PlaygroundChoice, nextCall = call): void {
    if (isChoosing.current) return;
    const before = choice && isCallValid ? writeAddress(choice, call) : undefined;
    setIsChanging(false);
    setIsRunning(false);
    setDraft(draftOf(next));
    void enforce(next, {
      onSuccess() {
        setProblem(undefined);
        setCall(nextCall);
        if (!isOfPlayground(location.hash)) return;
        // An entry for the browser's "back".
        if (before !== undefined) replaceAddress(before);
        const address = writeAddress(next, nextCall);
        if (location.hash !== address) window.history.pushState(null, "", address);
      },
    });
  }

  function change(next: Draft): void {
    setDraft(next);
    setIsChanging(true);
  }
  /** Applies the form, once it has not changed for a moment and no choice is under way. */
  const onStill = useEffectEvent(() => {
    if (isChoosing.current) return;
    const wanted = choiceOfDraft(draft);
    // The code beside the form says what is wrong.
    if (!choice || !isValidChoice(wanted)) return;
    if (isSameChoice(wanted, choice)) {
      setIsChanging(false);
      return;
    }
    setProblem(undefined);
    // Tokens mean something else in a limit of another kind, so keep them only within a kind.
    const keepsTokens = wanted.kind === choice.kind && wanted.shards === choice.shards;
    void enforce(
      wanted,
      {
        onSuccess() {
          if (isOfPlayground(location.hash)) replaceAddress(writeAddress(wanted, call));
        },
        onError: () => setIsChanging(false),
      },
      keepsTokens,
    );
  });
  useEffect(() => {
    if (!isChanging) return undefined;
    const timer = setTimeout(onStill, DEBOUNCE);
    return () => clearTimeout(timer);
  }, [isChanging, draft, isPending]);

  const onAsked = useEffectEvent(() => {
    if (!asked || !choice || isChoosing.current) return;
    void enforce(asked, {
      // The visitors were meant to call by that limit.
      onError: () => setIsRunning(false),
      onSettled() {
        // Meanwhile, a second "back" may have asked for another limit.
        setAsked((current) => (current === asked ? undefined : current));
      },
    });
  });
  const isKnown = choice !== undefined;
  useEffect(() => onAsked(), [isKnown, asked, isPending]);

  /** Removes `run` from the address, so that a reload does not call. The same link, opened again, does. */
  function hasRun(): void {
    setIsRunning(false);
    if (choice && isCallValid && isOfPlayground(location.hash))
      replaceAddress(writeAddress(choice, call));
  }

  const onHashChange = useEffectEvent(() => {
    if (!isOfPlayground(location.hash) || !location.hash.includes("?")) return;
    const next = readAddress(location.hash);
    setProblem(next.problem);
    if (next.problem !== undefined) return;
    setCall(next.call);
    setIsRunning(next.isRunning === true);
    if (!next.choice) return;
    setDraft(draftOf(next.choice));
    setAsked(next.choice);
  });
  useEffect(() => {
    const listener = () => onHashChange();
    window.addEventListener("hashchange", listener);
    return () => window.removeEventListener("hashchange", listener);
  }, []);

  /** Changes that make no new entry: the calls, and a limit that another tab has chosen. */
  const onChange = useEffectEvent(() => {
    const isBusy = isChoosing.current || asked !== undefined || problem !== undefined;
    if (isBusy || !choice || !isCallValid || !isOfPlayground(location.hash)) return;
    const hasChanged = call.count !== opened.call.count || reserve !== opened.call.reserve;
    // An address without numbers stays so until the visitor changes what calls ask for.
    if (location.hash.includes("?") || hasChanged) replaceAddress(writeAddress(choice, call));
  });
  useEffect(() => onChange(), [config, count, reserve]);

  return {
    /** `undefined` while the config is not known. */
    config,
    choice,
    draft,
    change,
    choose,
    isChoosing: isPending,
    chooseError: error,
    call,
    isCallValid,
    starts,
    /** Whether the address asks for calls, and its limit is in force. */
    isToRun: isRunning && choice !== undefined && asked === undefined,
    hasRun,
    count,
    setCount: changing(setCount),
    setReserve: changing(setReserve),
    /** The problem of the address. */
    problem,
    /** A link to what is shown; `undefined` while it is not known. */
    link:
      choice && isCallValid ? new URL(writeAddress(choice, call), location.href).href : undefined,
  };
}
