// @vitest-environment jsdom
/** The texts that the chat keeps over a reload, with any other content in the tab's storage. */
import { afterEach, expect, it, vi } from "vitest";
import { keep, readKept } from "../../../example-app/chat/kept-texts.js";

const NOTHING = { typed: "", unsent: [] };

afterEach(() => {
  vi.restoreAllMocks();
  sessionStorage.clear();
});

it("reads what it has kept", () => {
  const texts = { typed: "hel", unsent: [{ text: "first", nonce: "1" }] };
  keep(texts);
  expect(readKept()).toEqual(texts);
});

it.each([
  "{",
  "null",
  "3",
  "[]",
  "{}",
  '{"typed":"a"}',
  '{"typed":1,"unsent":[]}',
  '{"typed":"a","unsent":{}}',
  '{"typed":"a","unsent":[null]}',
  '{"typed":"a","unsent":[{"text":"b"}]}',
])("reads nothing of %s, which is none of its own", (text) => {
  keep(NOTHING);
  sessionStorage.setItem(sessionStorage.key(0)!, text);
  expect(readKept()).toEqual(NOTHING);
});

it("reads and keeps nothing where a browser forbids storage", () => {
  vi.spyOn(globalThis, "sessionStorage", "get").mockImplementation(() => {
    throw new DOMException("denied", "SecurityError");
  });
  keep({ typed: "a", unsent: [] });
  expect(readKept()).toEqual(NOTHING);
});
