import { describe, expect, test } from "vitest";
import { readConfig, readIntakeConfig } from "../config.ts";
import { InvalidConfigError } from "../errors.ts";

const enough = {
  AWS_REGION: "eu-central-1",
  BILLING_RECEIPTS_DIR: "/var/receipts",
  STRIPE_SECRET_KEY: "sk_test_1",
};

function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (!(error instanceof InvalidConfigError)) throw error;
    return error.problems.map(({ name, must, got, mend }) => `${name}|${must}|${got}|${mend}`);
  }
  return [];
}

describe("readConfig", () => {
  test("needs a region and a folder, and has a default for all the rest", () => {
    const config = readConfig(enough);

    expect(config).toMatchObject({
      aws: { region: "eu-central-1" },
      receiptsFolder: "/var/receipts",
      renderAtLeastMs: 0,
      admin: { host: "127.0.0.1", port: 8080 },
      logLevel: "info",
      environment: "production",
    });
    expect(config.contract).toMatchObject({ preset: "default-30", worker: { concurrency: 8 } });
    expect(config.aws).not.toHaveProperty("sqsEndpoint");
    expect(config).not.toHaveProperty("ecsAgentUri");
  });

  test("reads every variable", () => {
    const config = readConfig({
      ...enough,
      AWS_ENDPOINT_URL: "http://127.0.0.1:4566",
      AWS_ENDPOINT_URL_SQS: "http://127.0.0.1:9324",
      BILLING_PRESET: "drill",
      BILLING_CONTRACT_OVERRIDES: '{"worker":{"concurrency":3},"shutdown":{"drainMs":7000}}',
      BILLING_RENDER_THREADS: "2",
      BILLING_RENDER_MS: "1500",
      BILLING_ADMIN_HOST: "0.0.0.0",
      BILLING_ADMIN_PORT: "0",
      BILLING_ENVIRONMENT: "staging",
      BILLING_LEDGER_DIR: "/var/ledger",
      BILLING_LEDGER_RESTORED_AT: "2026-01-31T09:30:00+01:00",
      BILLING_VERSION: "2026.1",
      ECS_AGENT_URI: "http://169.254.170.2/api/0f9e",
      LOG_LEVEL: "debug",
    });

    expect(config).toMatchObject({
      aws: {
        region: "eu-central-1",
        sqsEndpoint: "http://127.0.0.1:9324",
        dynamoDbEndpoint: "http://127.0.0.1:4566",
      },
      renderThreads: 2,
      renderAtLeastMs: 1_500,
      admin: { host: "0.0.0.0", port: 0 },
      ecsAgentUri: "http://169.254.170.2/api/0f9e",
      logLevel: "debug",
      environment: "staging",
      ledgerFolder: "/var/ledger",
      ledgerRestoredAtMs: Date.UTC(2026, 0, 31, 8, 30),
      version: "2026.1",
    });
    expect(config.contract).toMatchObject({
      preset: "drill",
      worker: { concurrency: 3, jobTimeoutMs: 120_000 },
      shutdown: { drainMs: 7_000, abortMs: 1_000 },
    });
  });

  test("names every problem at once, with value and mend", () => {
    expect(
      problemsOf({
        AWS_REGION: "",
        BILLING_RENDER_MS: "1.5",
        LOG_LEVEL: "verbose",
        BILLING_PORT: "1",
      }),
    ).toEqual([
      "AWS_REGION|name the region of queue and table|nothing|Set it, for example AWS_REGION=eu-central-1.",
      "BILLING_RECEIPTS_DIR|name the folder for receipts|nothing|Set it, for example BILLING_RECEIPTS_DIR=/var/receipts.",
      'BILLING_RENDER_MS|be a whole number between 0 and 3600000|"1.5"|Write 0, which is the default, or leave it out.',
      expect.stringMatching(/^STRIPE_SECRET_KEY\|be a secret key: .*\|nothing\|Take it from /),
      'LOG_LEVEL|be one of debug, info, warn, error|"verbose"|Write one of them, or leave it out for info.',
      expect.stringMatching(
        /^BILLING_PORT\|be a variable of this service\|"1"\|Known are BILLING_ADMIN_HOST, /,
      ),
    ]);
  });

  test.each([
    ["AWS_ENDPOINT_URL", "127.0.0.1:9324"],
    ["BILLING_LEDGER_RESTORED_AT", "2026-01-31T09:30"],
    ["BILLING_LEDGER_RESTORED_AT", "2026-13-31T09:30:00Z"],
    ["AWS_ENDPOINT_URL_SQS", "ftp://127.0.0.1"],
    ["AWS_ENDPOINT_URL_DYNAMODB", "http//x"],
    ["BILLING_PRESET", "fargate"],
    ["BILLING_PRESET", "toString"],
    ["BILLING_CONTRACT_OVERRIDES", "{"],
    ["BILLING_CONTRACT_OVERRIDES", "[]"],
    ["BILLING_CONTRACT_OVERRIDES", "null"],
    ["BILLING_CONTRACT_OVERRIDES", '{"worker":{"concurency":3}}'],
    ["BILLING_CONTRACT_OVERRIDES", '{"__proto__":{"service":"x"}}'],
    ["BILLING_CONTRACT_OVERRIDES", '{"worker":7}'],
    ["BILLING_CONTRACT_OVERRIDES", '{"queues":[]}'],
    ["BILLING_RENDER_THREADS", "0"],
    ["BILLING_RENDER_THREADS", "-1"],
    ["BILLING_RENDER_THREADS", "four"],
    ["BILLING_RENDER_MS", "3600001"],
    ["BILLING_RENDER_MS", "0x10"],
    ["BILLING_ADMIN_PORT", "65536"],
    ["LOG_LEVEL", "INFO"],
  ])("refuses %s=%s", (name, value) => {
    const problems = problemsOf({ ...enough, [name]: value });

    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`${name}|`);
  });

  test.each([
    [{ STRIPE_SECRET_KEY: "sk_live_1" }, { secretKey: "sk_live_1" }],
    [{ STRIPE_SECRET_KEY: "rk_test_1" }, { secretKey: "rk_test_1" }],
    [
      { STRIPE_SECRET_KEY: "sk_test_1", BILLING_PAYMENT_ENDPOINT: "http://127.0.0.1:12111" },
      { secretKey: "sk_test_1", endpoint: "http://127.0.0.1:12111" },
    ],
  ])("reads from %j who is charged", (environment, payments) => {
    expect(readConfig({ ...enough, ...environment }).payments).toEqual(payments);
  });

  test.each([
    [{ STRIPE_SECRET_KEY: "pk_live_9" }, "STRIPE_SECRET_KEY|be a secret key"],
    [{ STRIPE_SECRET_KEY: "" }, "or set BILLING_PAYMENT_ENDPOINT to a local payment provider"],
    [
      { STRIPE_SECRET_KEY: "", BILLING_PAYMENT_ENDPOINT: "http://localhost:1" },
      "STRIPE_SECRET_KEY|be a key of test mode",
    ],
    [
      { STRIPE_SECRET_KEY: "sk_live_9", BILLING_PAYMENT_ENDPOINT: "http://localhost:1" },
      "STRIPE_SECRET_KEY|be a key of test mode",
    ],
    [
      { STRIPE_SECRET_KEY: "sk_test_9", BILLING_PAYMENT_ENDPOINT: "http://10.0.0.1:1" },
      'BILLING_PAYMENT_ENDPOINT|be an address of this machine|"http://10.0.0.1:1"',
    ],
  ])("refuses %j, and never shows a key", (environment, problem) => {
    const problems = problemsOf({ ...enough, ...environment });

    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems[0]).not.toContain("_9");
  });

  test("takes an empty variable for one that is not set", () => {
    expect(problemsOf({ ...enough, BILLING_PRESET: "", BILLING_RENDER_MS: "" })).toEqual([]);
  });
});

describe("readIntakeConfig", () => {
  const environment = { AWS_REGION: "eu-central-1", STRIPE_WEBHOOK_SECRET: "whsec_1" };

  test("needs a region and a signing secret, and listens on this machine unless told", () => {
    expect(readIntakeConfig(environment)).toEqual({
      ...{ aws: { region: "eu-central-1" }, webhookSecret: "whsec_1" },
      ...{ host: "127.0.0.1", port: 8081 },
    });
  });

  test("names every problem at once and never shows the secret", () => {
    const wrong = {
      ...{ STRIPE_WEBHOOK_SECRET: "sk_live_hidden", BILLING_INTAKE_PORT: "99999" },
      BILLING_INTAKE_PROT: "1",
    };
    expect(() => readIntakeConfig(wrong)).toThrow(/4 problem/);
    expect(() => readIntakeConfig(wrong)).not.toThrow(/hidden/);
    expect(() => readIntakeConfig(wrong)).toThrow(
      "STRIPE_WEBHOOK_SECRET must be a signing secret: whsec_..., got something else.",
    );
  });

  test("shares its environment with the worker", () => {
    const shared = {
      ...environment,
      ...{ BILLING_INTAKE_PORT: "8082", STRIPE_SECRET_KEY: "sk_test_1" },
    };
    expect(readConfig({ ...shared, BILLING_RECEIPTS_DIR: "/receipts" }).aws.region).toBe(
      "eu-central-1",
    );
  });
});
