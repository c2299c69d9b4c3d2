/** The bad-input corpus: what may lie in a queue, by class, each with the end that it must come to. */

import { attributesAgainstTheBody, edgesOfSize, formerDeadLetters } from "./bad-attributes.ts";
import {
  bodiesThatAreNoJson,
  depthBombs,
  foreignProducers,
  jsonThatIsNoObject,
} from "./bad-bodies.ts";
import {
  fieldsOfAnotherType,
  fieldsThatAreMissing,
  payloadsThatDoNotFit,
  wrongIdentities,
  wrongTimes,
  wrongVersions,
} from "./bad-fields.ts";
import type { BadMessage } from "./bad-message.ts";
import { fromAnotherRelease, oddButLegal } from "./odd-but-legal.ts";

/** Every message, by class. */
export const corpus: Readonly<Record<string, readonly BadMessage[]>> = {
  "a body that is no JSON": bodiesThatAreNoJson,
  "JSON that is no object": jsonThatIsNoObject,
  "a message of another producer": foreignProducers,
  "a field that is missing": fieldsThatAreMissing,
  "a field of another type": fieldsOfAnotherType,
  "a wrong version": wrongVersions,
  "a wrong identity": wrongIdentities,
  "a wrong time": wrongTimes,
  "an attribute against the body": attributesAgainstTheBody,
  "a payload that does not fit": payloadsThatDoNotFit,
  "a depth bomb": depthBombs,
  "a message at the edge of SQS's sizes": edgesOfSize,
  "a former dead letter": formerDeadLetters,
  "a message that is odd but legal": oddButLegal,
  "a job of another release": fromAnotherRelease,
};
