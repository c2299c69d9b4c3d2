import { describe, expect, test } from "vitest";
import { askEcsAgent } from "../ecs-agent.ts";
import { startEcsAgent } from "./ecs-agent-stand-in.ts";

const ON = { enabled: true, minutes: 12 };
const OFF = { enabled: false, minutes: 12 };
const never = new AbortController().signal;

describe("askEcsAgent", () => {
  test("asks for protection with what the agent takes, and nothing more", async () => {
    await using agent = await startEcsAgent();

    expect(await askEcsAgent(agent.uri, ON, never)).toEqual({
      kind: "done",
      expiresAt: "2026-01-01T01:02:03.456Z",
    });
    expect(await askEcsAgent(`${agent.uri}/`, OFF, never)).toEqual({ kind: "done" });

    expect(agent.bodies).toEqual([
      'PUT {"ProtectionEnabled":true,"ExpiresInMinutes":12}',
      'PUT {"ProtectionEnabled":false}',
    ]);
  });

  test("reads the failure that comes with HTTP 200", async () => {
    await using agent = await startEcsAgent();
    agent.state.mood = "failure";

    expect(await askEcsAgent(agent.uri, ON, never)).toEqual({
      kind: "failed",
      code: "TASK_NOT_VALID",
      message: "ECS did not do it",
      mayHaveTakenEffect: false,
    });
  });

  test("tells the agent's own words about what it refuses", async () => {
    await using agent = await startEcsAgent();
    const refused = { enabled: true, minutes: 2_881 };

    expect(await askEcsAgent(agent.uri, refused, never)).toEqual({
      kind: "failed",
      code: "InvalidParameterException",
      message: "expiresInMinutes must be 1 to 2880",
      mayHaveTakenEffect: false,
    });
    agent.state.mood = "denied";
    expect(await askEcsAgent(agent.uri, ON, never)).toMatchObject({
      code: "AccessDeniedException",
      mayHaveTakenEffect: false,
    });
    expect(await askEcsAgent(`${agent.uri}/elsewhere`, ON, never)).toMatchObject({
      code: "HTTP_404",
    });
  });

  test.for([
    ["ecs-timeout", "RequestCanceled"],
    ["gibberish", "HTTP_200"],
    ["reset", "ECONNRESET"],
    ["lost-answer", "ECONNRESET"],
  ] as const)("does not know the effect after %s", async ([mood, code]) => {
    await using agent = await startEcsAgent();
    agent.state.mood = mood;

    expect(await askEcsAgent(agent.uri, ON, never)).toMatchObject({
      kind: "failed",
      code,
      mayHaveTakenEffect: true,
    });
  });

  test.for(["hang", "half"] as const)("ends with its signal after %s", async (mood) => {
    await using agent = await startEcsAgent();
    agent.state.mood = mood;
    const call = new AbortController();

    const answer = askEcsAgent(agent.uri, ON, call.signal);
    await agent.heard(1);
    call.abort();

    expect(await answer).toEqual({
      kind: "failed",
      code: "TIMEOUT",
      message: "no answer in time",
      mayHaveTakenEffect: true,
    });
  });

  test("knows that nothing was asked where nobody listens, or the address is none", async () => {
    const agent = await startEcsAgent();
    await agent[Symbol.asyncDispose]();

    expect(await askEcsAgent(agent.uri, ON, never)).toMatchObject({
      code: "ECONNREFUSED",
      mayHaveTakenEffect: false,
    });
    expect(await askEcsAgent("no address", ON, never)).toMatchObject({
      code: "ERR_INVALID_URL",
      mayHaveTakenEffect: false,
    });
  });
});
