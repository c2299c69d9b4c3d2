/** Every action of SQS that is here, by its name. */

import {
  changeMessageVisibility,
  changeMessageVisibilityBatch,
  deleteMessage,
  deleteMessageBatch,
  receiveMessage,
  sendMessage,
  sendMessageBatch,
} from "./message-actions.ts";
import { cancelMessageMoveTask, listMessageMoveTasks, startMessageMoveTask } from "./move-tasks.ts";
import {
  createQueue,
  deleteQueue,
  getQueueAttributes,
  getQueueUrl,
  listDeadLetterSourceQueues,
  listQueues,
  listQueueTags,
  purgeQueue,
  setQueueAttributes,
  tagQueue,
  untagQueue,
} from "./queue-actions.ts";

/** The actions and what they are. */
export interface Actions {
  readonly CancelMessageMoveTask: typeof cancelMessageMoveTask;
  readonly ChangeMessageVisibility: typeof changeMessageVisibility;
  readonly ChangeMessageVisibilityBatch: typeof changeMessageVisibilityBatch;
  readonly CreateQueue: typeof createQueue;
  readonly DeleteMessage: typeof deleteMessage;
  readonly DeleteMessageBatch: typeof deleteMessageBatch;
  readonly DeleteQueue: typeof deleteQueue;
  readonly GetQueueAttributes: typeof getQueueAttributes;
  readonly GetQueueUrl: typeof getQueueUrl;
  readonly ListDeadLetterSourceQueues: typeof listDeadLetterSourceQueues;
  readonly ListMessageMoveTasks: typeof listMessageMoveTasks;
  readonly ListQueueTags: typeof listQueueTags;
  readonly ListQueues: typeof listQueues;
  readonly PurgeQueue: typeof purgeQueue;
  readonly ReceiveMessage: typeof receiveMessage;
  readonly SendMessage: typeof sendMessage;
  readonly SendMessageBatch: typeof sendMessageBatch;
  readonly SetQueueAttributes: typeof setQueueAttributes;
  readonly StartMessageMoveTask: typeof startMessageMoveTask;
  readonly TagQueue: typeof tagQueue;
  readonly UntagQueue: typeof untagQueue;
}

/** The actions themselves. */
export const ACTIONS: Actions = {
  CancelMessageMoveTask: cancelMessageMoveTask,
  ChangeMessageVisibility: changeMessageVisibility,
  ChangeMessageVisibilityBatch: changeMessageVisibilityBatch,
  CreateQueue: createQueue,
  DeleteMessage: deleteMessage,
  DeleteMessageBatch: deleteMessageBatch,
  DeleteQueue: deleteQueue,
  GetQueueAttributes: getQueueAttributes,
  GetQueueUrl: getQueueUrl,
  ListDeadLetterSourceQueues: listDeadLetterSourceQueues,
  ListMessageMoveTasks: listMessageMoveTasks,
  ListQueueTags: listQueueTags,
  ListQueues: listQueues,
  PurgeQueue: purgeQueue,
  ReceiveMessage: receiveMessage,
  SendMessage: sendMessage,
  SendMessageBatch: sendMessageBatch,
  SetQueueAttributes: setQueueAttributes,
  StartMessageMoveTask: startMessageMoveTask,
  TagQueue: tagQueue,
  UntagQueue: untagQueue,
};

/** The actions that this SQS knows. */
export type ActionName = keyof Actions;

/** What an action takes, in SQS's words and units. */
export type ActionInput<Name extends ActionName> = Parameters<Actions[Name]>[0];

/** What an action gives, in SQS's words and units. */
export type ActionOutput<Name extends ActionName> = Awaited<ReturnType<Actions[Name]>>;
