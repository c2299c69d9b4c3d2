import { describe, expect, test } from "vitest";
import { judgeError, judgeFailedEntry } from "../send-answer.ts";

const sdkError = (name: string, httpStatusCode?: number, attempts = 1, more = {}) =>
  Object.assign(new Error("..."), { name, $metadata: { httpStatusCode, attempts }, ...more });
const networkError = (code: string, attempts = 1) =>
  sdkError("Error", undefined, attempts, { code });

describe("judgeError", () => {
  test.each([
    ["a queue that is gone", sdkError("QueueDoesNotExist", 400), "refused"],
    ["an unreadable message", sdkError("InvalidMessageContents", 400), "refused"],
    ["no permission", sdkError("AccessDenied", 403), "refused"],
    ["a throttle by name", sdkError("RequestThrottled", 400), "not-sent"],
    ["a throttle by status", sdkError("Whatever", 429), "not-sent"],
    ["a throttle by hint", sdkError("X", 400, 1, { $retryable: { throttling: true } }), "not-sent"],
    ["credentials that have run out", sdkError("ExpiredToken", 403), "not-sent"],
    ["no credentials yet", sdkError("CredentialsProviderError"), "not-sent"],
    ["a refused connection", networkError("ECONNREFUSED"), "not-sent"],
    ["a name that is not found", networkError("ENOTFOUND"), "not-sent"],
    ["a fault of the server", sdkError("InternalError", 500), "unknown"],
    ["a server that is away", sdkError("ServiceUnavailable", 503), "unknown"],
    ["a server that waited too long", sdkError("RequestTimeout", 408), "unknown"],
    ["a reset", networkError("ECONNRESET"), "unknown"],
    ["a time-out", sdkError("TimeoutError"), "unknown"],
    ["an answer that is none", sdkError("SyntaxError", 200), "unknown"],
    ["a checksum that differs", new Error("Invalid MD5 checksum on messages"), "unknown"],
    ["a text that was thrown", "boom", "unknown"],
    ["nothing that was thrown", undefined, "unknown"],
  ])("takes %s as %s", (_name, error, kind) => {
    expect(judgeError(error)).toMatchObject({ kind, cause: error });
  });

  test.each([
    sdkError("QueueDoesNotExist", 400, 2),
    sdkError("RequestThrottled", 400, 3),
    sdkError("ExpiredToken", 403, 2),
    networkError("ECONNREFUSED", 2),
  ])("knows nothing of the attempts that the SDK made before", (error) => {
    expect(judgeError(error).kind).toBe("unknown");
  });

  test("names the fault by the system's code, else by the error's name", () => {
    expect(judgeError(networkError("ECONNREFUSED")).code).toBe("ECONNREFUSED");
    expect(judgeError(new Error("a", { cause: networkError("ECONNRESET") })).code).toBe(
      "ECONNRESET",
    );
    expect(judgeError(sdkError("QueueDoesNotExist", 400)).code).toBe("QueueDoesNotExist");
    expect(judgeError("boom").code).toBe("Unknown");
  });
});

describe("judgeFailedEntry", () => {
  test.each([
    ["InvalidMessageContents", true, "refused"],
    ["InternalError", false, "not-sent"],
    ["InternalError", undefined, "not-sent"],
    ["RequestThrottled", true, "not-sent"],
  ])("takes %s with SenderFault %s as %s", (Code, SenderFault, kind) => {
    expect(judgeFailedEntry({ Code, SenderFault })).toEqual({ kind, code: Code });
  });

  test("keeps what SQS said as the cause", () => {
    const { cause } = judgeFailedEntry({ Code: "X", SenderFault: true, Message: "too odd" });

    expect(cause).toEqual(new Error("too odd"));
  });
});
