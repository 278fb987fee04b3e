import { atMost, type Metrics, oneOf, statusCode } from '../kit/metrics.ts';

export interface RequestObservation {
  readonly verb: string;
  /** `deployments.apps`, with `/status` where it is a subresource; never a name. */
  readonly resource: string;
  /** HTTP status, or `lost` when there was no answer. */
  readonly status: string;
  readonly seconds: number;
}

export type ObserveRequest = (observation: RequestObservation) => void;

const verbs = ['get', 'list', 'watch', 'create', 'replace', 'patch', 'apply', 'delete', 'deletecollection', 'raw'];
const known = new WeakMap<Metrics, ObserveRequest>();

/** The metrics of all clients that share `metrics`. The time of a watch is that to the start of its stream. */
export function clientMetrics(metrics: Metrics): ObserveRequest {
  const found = known.get(metrics);
  if (found) return found;
  const resources = atMost(300);
  const count = metrics.counter({
    name: 'kube_client_requests_total',
    help: 'Requests to Kubernetes API servers, repetitions counted one by one.',
    labels: {
      verb: oneOf(verbs),
      resource: resources,
      status: (value) => (value === 'lost' ? value : statusCode(value)),
    },
  });
  const time = metrics.histogram({
    name: 'kube_client_request_duration_seconds',
    help: 'Time from a request to the end of its answer.',
    labels: { verb: oneOf(verbs), resource: resources },
  });
  const observe: ObserveRequest = ({ verb, resource, status, seconds }) => {
    count({ verb, resource, status });
    time({ verb, resource }, seconds);
  };
  known.set(metrics, observe);
  return observe;
}
