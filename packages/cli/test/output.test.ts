import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { alignPairs, Output, showDuration } from "../output.ts";

function setup({ json = false, isTTY = false, columns = 80 } = {}) {
  const written: string[] = [];
  const streamOf = (name: string) => {
    const stream = Object.assign(new PassThrough(), { isTTY, columns });
    stream.on("data", (chunk: Buffer) => written.push(`${name}: ${chunk}`));
    return stream;
  };
  const output = new Output({ stdout: streamOf("out"), stderr: streamOf("err"), json });
  return { output, written };
}

describe("output for people", () => {
  test("prints lines on stdout, warnings on stderr, and no records", () => {
    const { output, written } = setup();

    output.say("hello");
    output.warn("careful");
    output.record({ event: "x" });
    output.pass("{}");

    expect(written).toEqual(["out: hello\n", "err: careful\n"]);
  });

  test("prints a status only when it has changed, where nothing can be redrawn", () => {
    const { output, written } = setup();

    for (const status of ["done 1", "done 1", "done 2", ""]) output.status(status);

    expect(written).toEqual(["out: done 1\n", "out: done 2\n"]);
  });

  test("keeps the status below all other lines on a terminal", () => {
    const { output, written } = setup({ isTTY: true });

    output.status("done 1");
    output.say("hello");
    output.warn("careful");
    output.status("");

    expect(written).toEqual([
      "out: \r\u001b[Kdone 1",
      "out: \r\u001b[K",
      "out: hello\n",
      "out: done 1",
      "out: \r\u001b[K",
      "err: careful\n",
      "out: done 1",
      "out: \r\u001b[K",
    ]);
  });

  test("cuts a status that would wrap, because a wrapped line cannot be erased", () => {
    const { output, written } = setup({ isTTY: true, columns: 8 });

    output.status("done 12345");

    expect(written).toEqual(["out: \r\u001b[Kdone "]);
  });

  test("leaves room for the ^C that a terminal writes behind it, and cuts no number in half", () => {
    const { output, written } = setup({ isTTY: true, columns: 24 });

    output.status("done 123  retried 4567");
    output.status("done 123  retried 456");

    expect(written).toEqual(["out: \r\u001b[Kdone 123", "out: \r\u001b[Kdone 123  retried 456"]);
  });
});

describe("output for machines", () => {
  test("has JSON lines only on stdout, also on a terminal", () => {
    const { output, written } = setup({ json: true, isTTY: true });

    output.say("hello");
    output.status("done 1");
    output.pass('{"event":"lease.acked"}');
    output.record({ event: "run.summary", sent: 1 });
    output.warn("careful");

    expect(written).toEqual([
      'out: {"event":"lease.acked"}\n',
      'out: {"event":"run.summary","sent":1}\n',
      "err: careful\n",
    ]);
  });
});

describe("text", () => {
  test("stands in columns", () => {
    expect(
      alignPairs([
        ["sqs", "here"],
        ["dynamodb", "there"],
      ]),
    ).toEqual(["  sqs       here", "  dynamodb  there"]);
    expect(alignPairs([])).toEqual([]);
  });

  test.each([
    [0, "0 ms"],
    [349.6, "350 ms"],
    [1_000, "1.0 s"],
    [20_040, "20.0 s"],
    [60_000, "1 min 0 s"],
    [185_400, "3 min 5 s"],
  ])("shows %d ms as %s", (durationMs, text) => {
    expect(showDuration(durationMs)).toBe(text);
  });
});
