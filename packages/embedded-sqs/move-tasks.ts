/** Move tasks: messages of a dead-letter queue go back to where they came from, or elsewhere. */

import { invalidParameter, SqsError } from "./errors.ts";
import type { ActionContext } from "./message-actions.ts";
import { redrivenCopy } from "./message-origin.ts";
import { required, wholeNumber } from "./parameters.ts";
import type { MoveTask } from "./queue-change.ts";
import type { Queue } from "./queue-model.ts";
import type { Queues } from "./queues.ts";
import type { MoveTaskResult } from "./sqs-api.ts";
import type { StoredMessage } from "./stored-message.ts";

/** The fastest that SQS moves. @see SQS API reference, StartMessageMoveTask */
const MAX_PER_SECOND = 500;
const MAX_RESULTS = 10;
const STEP_MS = 100;

type OfSource = { readonly SourceArn?: string | undefined };

/** StartMessageMoveTask. The messages move afterwards, step by step. @throws SqsError */
export function startMessageMoveTask(
  input: OfSource & {
    readonly DestinationArn?: string | undefined;
    readonly MaxNumberOfMessagesPerSecond?: number | undefined;
  },
  { queues }: ActionContext,
): { TaskHandle: string } {
  const source = queueOf("SourceArn", input.SourceArn, queues);
  const rate = "MaxNumberOfMessagesPerSecond";
  const perSecond = wholeNumber(rate, input.MaxNumberOfMessagesPerSecond, 1, MAX_PER_SECOND);
  if (input.DestinationArn !== undefined) {
    const destination = queueOf("DestinationArn", input.DestinationArn, queues);
    if (destination.identity.isFifo !== source.identity.isFifo) {
      throw new SqsError(
        "InvalidParameterValue",
        "Destination must be same type of queue as source.",
      );
    }
  }
  refuseStart(source, queues);
  queues.transaction(() => source.settle());
  const task: MoveTask = {
    taskId: queues.newId(),
    sourceArn: source.identity.arn,
    ...(input.DestinationArn === undefined ? {} : { destinationArn: input.DestinationArn }),
    ...(perSecond === undefined ? {} : { messagesPerSecond: perSecond }),
    status: "RUNNING",
    moved: 0,
    toMove: source.state.counts.visible,
    startedAtMs: queues.nowMs(),
  };
  queues.commit({ kind: "move-task", task });
  runMoveTask(task.taskId, queues);
  return { TaskHandle: handleOf(task) };
}

/** ListMessageMoveTasks, the newest first. @throws SqsError ResourceNotFoundException */
export function listMessageMoveTasks(
  input: OfSource & { readonly MaxResults?: number | undefined },
  { queues }: ActionContext,
): { Results: MoveTaskResult[] } {
  const { arn } = queueOf("SourceArn", input.SourceArn, queues).identity;
  const count = wholeNumber("MaxResults", input.MaxResults, 1, MAX_RESULTS) ?? 1;
  const tasks = queues.state.tasks().filter(({ sourceArn }) => sourceArn === arn);
  return { Results: tasks.reverse().slice(0, count).map(render) };
}

/** CancelMessageMoveTask: what was moved stays moved. @throws SqsError */
export function cancelMessageMoveTask(
  input: { readonly TaskHandle?: string | undefined },
  { queues }: ActionContext,
): { ApproximateNumberOfMessagesMoved: number } {
  const taskId = Buffer.from(required("TaskHandle", input.TaskHandle), "base64").toString();
  const task = queues.state.task(taskId);
  if (task === undefined) throw notFound("Task does not exist.");
  if (task.status !== "RUNNING") {
    const reason = "Only active tasks can be cancelled.";
    throw invalidParameter("TaskHandle", input.TaskHandle, reason);
  }
  queues.commit({ kind: "move-task", task: { ...task, status: "CANCELLED" } });
  return { ApproximateNumberOfMessagesMoved: task.moved };
}

/** Goes on with a task until it has ended; also with one that a restart interrupted. */
export function runMoveTask(taskId: string, queues: Queues, delayMs = 0): void {
  queues.clock.schedule(delayMs, () => {
    const task = queues.state.task(taskId);
    if (task?.status !== "RUNNING" || queues.isClosed) return;
    const perSecond = task.messagesPerSecond ?? MAX_PER_SECOND;
    const stepMs = Math.max(STEP_MS, 1000 / perSecond);
    const next = queues.transaction(() =>
      step(task, Math.round((perSecond * stepMs) / 1000), queues),
    );
    if (next.status === "RUNNING") runMoveTask(taskId, queues, stepMs);
  });
}

function step(task: MoveTask, count: number, queues: Queues): MoveTask {
  const source = queues.state.byArn(task.sourceArn);
  let { moved } = task;
  let failureReason = source === undefined ? "AWS.SimpleQueueService.NonExistentQueue" : undefined;
  let isDone = false;
  source?.settle();
  for (let left = count; left > 0 && failureReason === undefined && !isDone; left -= 1) {
    source?.state.order.begin();
    const message = source?.state.order.next();
    isDone = message === undefined || moved >= task.toMove;
    if (source === undefined || message === undefined || isDone) break;
    failureReason = moveBack(message, source, task, queues);
    if (failureReason === undefined) moved += 1;
  }
  const isOver = isDone || moved >= task.toMove;
  const next: MoveTask = {
    ...task,
    moved,
    status: failureReason !== undefined ? "FAILED" : isOver ? "COMPLETED" : "RUNNING",
    ...(failureReason === undefined ? {} : { failureReason }),
  };
  queues.commit({ kind: "move-task", task: next });
  return next;
}

/** @returns why the message could not be moved */
function moveBack(
  message: StoredMessage,
  source: Queue,
  task: MoveTask,
  queues: Queues,
): string | undefined {
  const arn = task.destinationArn ?? message.deadLetterSourceArn;
  if (arn === undefined) return "CouldNotDetermineMessageSource";
  const destination = queues.state.byArn(arn);
  if (destination === undefined) return "AWS.SimpleQueueService.NonExistentQueue";
  source.take(message, "redriven");
  const copy = redrivenCopy(message, {
    messageId: queues.newId(),
    order: queues.state.nextOrder(),
    senderId: message.senderId,
    isFifo: destination.identity.isFifo,
    nowMs: queues.nowMs(),
  });
  destination.admit(copy, "redriven");
  return undefined;
}

function refuseStart(source: Queue, queues: Queues): void {
  const { arn } = source.identity;
  const isDeadLetterQueue = queues.state
    .queues()
    .some(({ redrivePolicy }) => redrivePolicy?.deadLetterTargetArn === arn);
  if (!isDeadLetterQueue) {
    const reason = "Source queue must be configured as a Dead Letter Queue.";
    throw new SqsError("InvalidParameterValue", reason);
  }
  const isBusy = queues.state
    .tasks()
    .some(({ sourceArn, status }) => sourceArn === arn && status === "RUNNING");
  if (isBusy) {
    throw new SqsError(
      "InvalidParameterValue",
      "There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
    );
  }
}

function queueOf(parameter: string, arn: string | undefined, queues: Queues): Queue {
  const queue = queues.state.byArn(required(parameter, arn));
  if (queue !== undefined) return queue;
  throw notFound(`The resource that you specified for the ${parameter} parameter doesn't exist.`);
}

function notFound(message: string): SqsError {
  return new SqsError("ResourceNotFoundException", message);
}

function handleOf({ taskId }: MoveTask): string {
  return Buffer.from(taskId).toString("base64");
}

function render(task: MoveTask): MoveTaskResult {
  return {
    ...(task.status === "RUNNING" ? { TaskHandle: handleOf(task) } : {}),
    Status: task.status,
    SourceArn: task.sourceArn,
    ...(task.destinationArn === undefined ? {} : { DestinationArn: task.destinationArn }),
    ...(task.messagesPerSecond === undefined
      ? {}
      : { MaxNumberOfMessagesPerSecond: task.messagesPerSecond }),
    ApproximateNumberOfMessagesMoved: task.moved,
    ApproximateNumberOfMessagesToMove: task.toMove,
    ...(task.failureReason === undefined ? {} : { FailureReason: task.failureReason }),
    StartedTimestamp: Math.floor(task.startedAtMs),
  };
}
