/**
 * The account that a request to better-auth is for, against better-auth itself.
 * `npm run install:test-projects` installs better-auth. Without it, these tests report that they are
 * skipped.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  type BetterAuthCall,
  betterAuthPlugin,
  createRateLimiter,
  HOUR,
  memoryStore,
} from "../../../server/index.js";

const PROJECT = fileURLToPath(new URL("../../better-auth/", import.meta.url));
const isInstalled = existsSync(`${PROJECT}node_modules/better-auth`);
const MODULE = `${PROJECT}auth.ts`;

interface Auth {
  handler(request: Request): Promise<Response>;
  api: Record<string, unknown>;
  $context: Promise<unknown>;
}

const limits = { perAccount: { kind: "fixed window", rate: 5, period: HOUR } } as const;
const perAccount = { name: "perAccount", key: ({ account }: BetterAuthCall) => account } as const;

if (!isInstalled) {
  it("finds the account of a request", ({ skip }) => skip("needs npm run install:test-projects"));
}

describe.skipIf(!isInstalled)("the account of a request to better-auth", async () => {
  const { createAuthOfAllAccounts } = (
    isInstalled ? await import(/* @vite-ignore */ MODULE) : {}
  ) as { createAuthOfAllAccounts(limits: unknown, warnings?: string[]): Auth };

  function open(rules: Parameters<typeof betterAuthPlugin<typeof limits>>[1], warnings?: string[]) {
    const limiter = createRateLimiter({ store: memoryStore(), limits });
    const auth = createAuthOfAllAccounts(betterAuthPlugin(limiter, rules), warnings);
    const post = async (path: string, body: object) => {
      const answer = await auth.handler(
        new Request(`http://localhost/api/auth${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      );
      return answer.status;
    };
    return { auth, limiter, post };
  }

  const [email, username, phoneNumber] = ["victim@example.com", "victim", "+15550100"] as const;
  const password = "a wrong guess";
  const [otp, code, newPassword] = ["000000", "000000", "a long password"];

  const requests: [path: string, body: Record<string, string>][] = [
    ["/admin/create-user", { email, password, name: "Victim" }],
    ["/organization/invite-member", { email, role: "member" }],
    ["/sign-in/email", { email, password }],
    ["/sign-in/email-otp", { email, otp }],
    ["/sign-in/magic-link", { email }],
    ["/sign-in/phone-number", { phoneNumber, password }],
    ["/sign-in/username", { username, password }],
    ["/sign-up/email", { email, password, name: "Victim" }],
    ["/email-otp/check-verification-otp", { email, otp, type: "sign-in" }],
    ["/email-otp/request-password-reset", { email }],
    ["/email-otp/reset-password", { email, otp, password }],
    ["/email-otp/send-verification-otp", { email, type: "sign-in" }],
    ["/email-otp/verify-email", { email, otp }],
    ["/forget-password/email-otp", { email }],
    ["/is-username-available", { username }],
    ["/phone-number/request-password-reset", { phoneNumber }],
    ["/phone-number/reset-password", { phoneNumber, otp, newPassword }],
    ["/phone-number/send-otp", { phoneNumber }],
    ["/phone-number/verify", { phoneNumber, code }],
    ["/request-password-reset", { email }],
    ["/send-verification-email", { email }],
  ];

  it.each(requests)(
    "limits %s by the field that it reads, whatever else is sent",
    async (path, body) => {
      const { limiter, post } = open({ [path]: perAccount });
      let denied = 0;
      for (let i = 0; i < 12; i++) {
        const others = { email: `a${i}@b.example`, username: `user${i}`, phoneNumber: `+1555${i}` };
        if ((await post(path, { ...others, ...body })) === 429) denied++;
      }
      expect(denied).toBe(7);
      const [account] = Object.values(body);
      expect((await limiter.getValue("perAccount", { key: account! })).value).toBe(0);
    },
  );

  it("refuses a request whose endpoint names no account that is known", async () => {
    const { post } = open({ "/sign-in/*": perAccount });
    expect(await post("/sign-in/ldap", { username, password, email })).toBe(400);
    expect(await post("/sign-in/anonymous", { email })).toBe(400);
    expect(await post("/sign-in/username", { username, password })).toBe(401);
  });

  it("says at start for which endpoints a rule finds no account", async () => {
    const warnings: string[] = [];
    const rules = { "/sign-in/*": perAccount, "/two-factor/verify-otp": perAccount };
    await open(rules, warnings).auth.$context;
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /not known at \/two-factor\/verify-otp, \/sign-in\/anonymous, \/sign-in\/ldap\. .*`body`/,
    );
  });

  it("warns of no rule that does without the account", async () => {
    const warnings: string[] = [];
    const key = ({ headers }: BetterAuthCall) => headers.get("x-real-ip");
    const byUser = ({ body }: BetterAuthCall) => (body as { username: string }).username;
    const rules = {
      "/sign-in/*": { name: "perAccount", key },
      "/sign-in/ldap": { name: "perAccount", key: byUser },
      "/sign-up/*": perAccount,
    } as const;
    await open(rules, warnings).auth.$context;
    expect(warnings).toEqual([]);
  });

  it("knows each endpoint of better-auth that reads an email, a username or a phone number", () => {
    const { auth } = open({});
    const endpoints = Object.values(auth.api) as { path?: string; options?: object }[];
    const paths = endpoints.filter(({ options }) => readsAccount(options)).map(({ path }) => path);
    const tried = requests.map(([path]) => path);
    expect(new Set(paths.filter(Boolean))).toEqual(new Set(tried));
  });
});

/** Whether the schema of an endpoint's body has a field that names an account. */
function readsAccount(options: object | undefined): boolean {
  const { body } = Object(options) as { body?: Schema };
  const shape = body?.shape ?? body?.def?.left?.shape ?? {};
  return ["email", "username", "phoneNumber"].some((field) => field in shape);
}

interface Schema {
  shape?: object;
  def?: { left?: Schema };
}
