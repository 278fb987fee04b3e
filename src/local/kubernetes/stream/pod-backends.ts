// What stands behind pods that are not simulated alone: a service of this machine, with a log and listeners.

export interface LogLine {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Without the end of the line. */
  readonly text: string;
}

export interface LogSource {
  /** The lines kept, oldest first; those of the run before this one when asked for, undefined if there was none. */
  lines(previous: boolean): readonly LogLine[] | undefined;
  /** Tells of every line after those that `lines` gives in the same turn, and of the end of the log. Returns how to stop. */
  follow(onLine: (line: LogLine) => void, onEnd: () => void): () => void;
}

export interface PodBackend {
  logs(): LogSource;
  /** Where the container's ports really are, by port in the pod. */
  readonly ports: ReadonlyMap<number, { readonly host: string; readonly port: number }>;
}

export interface ContainerPlace {
  readonly cluster: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

export interface PodBackends {
  /** Undefined for a container that is simulated. */
  find(place: ContainerPlace): PodBackend | undefined;
}

export interface PodBackendTable extends PodBackends {
  /** Puts a backend behind a container, in place of one before it. Returns how to take it away. */
  register(place: ContainerPlace, backend: PodBackend): () => void;
}

/** None of these may contain a slash. */
const keyOf = ({ cluster, namespace, pod, container }: ContainerPlace): string =>
  `${cluster}/${namespace}/${pod}/${container}`;

export function createPodBackends(): PodBackendTable {
  const backends = new Map<string, PodBackend>();
  return {
    find: (place) => backends.get(keyOf(place)),
    register(place, backend) {
      const key = keyOf(place);
      backends.set(key, backend);
      return () => {
        if (backends.get(key) === backend) backends.delete(key);
      };
    },
  };
}
