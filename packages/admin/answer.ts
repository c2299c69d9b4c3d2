/** What the server says to one request. */

/** One answer, before it is written. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** An answer in JSON, on lines that people can read. */
export function json(status: number, value: object): Answer {
  const body = `${JSON.stringify(value, null, 2)}\n`;
  return { status, contentType: "application/json; charset=utf-8", body };
}
