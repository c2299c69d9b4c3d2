/** What goes wrong between a run and its worker. */

/** A handler sends a child job, and the worker was given nothing to send by. */
export class SenderMissingError extends Error {
  override readonly name = "SenderMissingError";
  readonly code = "SENDER_MISSING";

  constructor() {
    super("this worker has no sender: give it one to let jobs send child jobs");
  }
}
