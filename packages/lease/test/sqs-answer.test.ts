import {
  KmsThrottled,
  OverLimit,
  QueueDoesNotExist,
  ReceiptHandleIsInvalid,
  RequestThrottled,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import {
  answerOfError,
  answerOfFailedEntry,
  answerOfSendError,
  claimFaultOf,
} from "../sqs-answer.ts";

function serviceError(name: string, status: number): Error {
  return new SQSServiceException({
    name,
    $fault: status < 500 ? "client" : "server",
    message: name,
    $metadata: { httpStatusCode: status },
  });
}

function modeled(Kind: typeof OverLimit, status = 400): Error {
  return new Kind({ message: "", $metadata: { httpStatusCode: status } });
}

function nodeError(code: string, more: object = {}): Error {
  return Object.assign(new Error(code), { code, ...more });
}

/** As the SDK's HTTP handler makes it. */
function timeout(message: string): Error {
  return Object.assign(new Error(message), { name: "TimeoutError" });
}

describe("answerOfError", () => {
  test.each([
    ["RequestThrottled", modeled(RequestThrottled as never)],
    ["OverLimit", modeled(OverLimit, 403)],
    ["KmsThrottled", modeled(KmsThrottled as never)],
    ["ThrottlingException", serviceError("ThrottlingException", 400)],
    ["SlowDown", serviceError("SlowDown", 503)],
    ["AccessDenied", serviceError("AccessDenied", 403)],
    ["ExpiredToken", serviceError("ExpiredToken", 403)],
    ["ECONNREFUSED", nodeError("ECONNREFUSED", { syscall: "connect" })],
    ["ENOTFOUND", nodeError("ENOTFOUND", { syscall: "getaddrinfo" })],
    ["EHOSTUNREACH", nodeError("EHOSTUNREACH", { syscall: "connect" })],
    ["CredentialsProviderError", Object.assign(new Error(), { name: "CredentialsProviderError" })],
    [
      "TimeoutError",
      timeout("the request socket did not establish a connection with the server within 1000 ms."),
    ],
  ])("takes %s as proof that nothing was done", (code, error) => {
    expect(answerOfError(error)).toEqual({ kind: "not-applied", code, cause: error });
  });

  test.each([
    ["TimeoutError", timeout("a request has exceeded the configured 2000 ms requestTimeout.")],
    ["TimeoutError", nodeError("ECONNRESET", { syscall: "read", name: "TimeoutError" })],
    ["EPIPE", nodeError("EPIPE", { syscall: "write" })],
    ["EHOSTUNREACH", nodeError("EHOSTUNREACH", { syscall: "read" })],
    ["AbortError", new DOMException("aborted", "AbortError")],
    ["InternalFailure", serviceError("InternalFailure", 500)],
    ["ServiceUnavailable", serviceError("ServiceUnavailable", 503)],
    ["RequestTimeout", serviceError("RequestTimeout", 408)],
    ["SyntaxError", Object.assign(new SyntaxError(), { $metadata: { httpStatusCode: 200 } })],
    ["Unexpected", "a string that was thrown"],
  ])("takes %s as proof of nothing", (code, error) => {
    expect(answerOfError(error)).toMatchObject({ kind: "unknown", code });
  });

  test("knows that the messages of a queue that is gone are gone as well", () => {
    expect(answerOfError(modeled(QueueDoesNotExist as never))).toEqual({
      kind: "refused",
      code: "QueueDoesNotExist",
    });
  });
});

describe("answerOfFailedEntry", () => {
  test.each([
    ["ReceiptHandleIsInvalid", true, "refused"],
    ["InvalidParameterValue", true, "refused"],
    ["AWS.SimpleQueueService.MessageNotInflight", true, "refused"],
    ["RequestThrottled", true, "not-applied"],
    ["InternalError", false, "not-applied"],
  ])("takes %s with sender fault %s as %s", (Code, SenderFault, kind) => {
    expect(answerOfFailedEntry({ Code, SenderFault })).toEqual({
      kind,
      code: Code.split(".").at(-1),
    });
  });
});

describe("answerOfSendError", () => {
  test("gives up on what will be refused again", () => {
    const code = "InvalidMessageContents";
    expect(answerOfSendError(serviceError(code, 400))).toEqual({ kind: "refused", code });
    expect(answerOfSendError(modeled(ReceiptHandleIsInvalid as never, 404)).kind).toBe("refused");
    expect(answerOfSendError(serviceError("ThrottlingException", 400)).kind).toBe("not-applied");
    expect(answerOfSendError(serviceError("InternalFailure", 500)).kind).toBe("unknown");
  });
});

describe("claimFaultOf", () => {
  test.each([
    ["QueueDoesNotExist", serviceError("AWS.SimpleQueueService.NonExistentQueue", 400)],
    ["QueueDoesNotExist", modeled(QueueDoesNotExist as never)],
    ["AccessDenied", serviceError("AccessDenied", 403)],
    ["AccessDeniedException", serviceError("AccessDeniedException", 400)],
    ["KmsAccessDenied", serviceError("KMS.AccessDeniedException", 400)],
    ["InvalidClientTokenId", serviceError("InvalidClientTokenId", 403)],
  ])("says that %s needs somebody to mend it", (reason, error) => {
    expect(claimFaultOf(error)).toMatchObject({ reason, retryable: false });
  });

  test.each([
    ["OverLimit", modeled(OverLimit, 403)],
    ["KmsThrottled", serviceError("KMS.ThrottlingException", 400)],
    ["InternalFailure", serviceError("InternalFailure", 500)],
    ["ECONNREFUSED", nodeError("ECONNREFUSED")],
    ["TimeoutError", new DOMException("late", "TimeoutError")],
    ["ExpiredToken", serviceError("ExpiredToken", 403)],
  ])("says that %s may pass by itself", (reason, error) => {
    expect(claimFaultOf(error)).toMatchObject({ reason, retryable: true });
  });
});
