/** What the pod, its probes and its autoscaler derive. */

import type { DeploymentContract } from "./deployment-contract.ts";

/** Numbers for a Deployment and its KEDA ScaledObject, in their units, frozen. */
export interface KubernetesSettings {
  readonly terminationGracePeriodSeconds: number;
  /** 0: no preStop hook. */
  readonly preStopSleepSeconds: number;
  readonly livenessProbe: ProbeSettings;
  readonly keda: KedaSettings;
}

/** Numbers of a probe; Kubernetes stops it once deletion has begun. */
export interface ProbeSettings {
  readonly periodSeconds: number;
  readonly failureThreshold: number;
  readonly timeoutSeconds: number;
}

/** Numbers of KEDA's `aws-sqs-queue` scaler and of the HPA that it makes. */
export interface KedaSettings {
  readonly queueLength: number;
  /** Always: a pod whose only message is in flight must not look idle. */
  readonly scaleOnInFlight: true;
  readonly maxReplicaCount: number;
  /** Pods that may go in one scale-down period, which is a whole grace long. */
  readonly scaleDownPods: number;
  readonly scaleDownPeriodSeconds: number;
}

/** Longest `periodSeconds` of an HPA scaling policy. Kubernetes, "HPAScalingPolicy". */
const MAX_POLICY_PERIOD_SECONDS = 1_800;

/** What the contract says to Kubernetes and KEDA. */
export function kubernetesSettings({ platform, worker }: DeploymentContract): KubernetesSettings {
  const { liveness, graceMs, preStopMs } = platform;
  const graceSeconds = graceMs / 1_000;
  return Object.freeze({
    terminationGracePeriodSeconds: graceSeconds,
    preStopSleepSeconds: preStopMs / 1_000,
    livenessProbe: Object.freeze({
      periodSeconds: liveness.periodMs / 1_000,
      failureThreshold: liveness.failures,
      timeoutSeconds: Math.min(5, liveness.periodMs / 1_000),
    }),
    keda: Object.freeze({
      queueLength: worker.backlogPerWorker,
      scaleOnInFlight: true,
      maxReplicaCount: worker.expectedWorkers,
      scaleDownPods: 1,
      scaleDownPeriodSeconds: Math.min(MAX_POLICY_PERIOD_SECONDS, graceSeconds),
    }),
  });
}
