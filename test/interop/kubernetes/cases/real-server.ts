// A connection to a real kube-apiserver that goes with it.
import { startApiServer } from '../real-api-server.ts';
import { openWire, type Wire } from './wire.ts';

export interface RealServer {
  readonly wire: Wire;
  stop(): Promise<void>;
}

/** How long a real server may take to learn of grants. */
const settleMilliseconds = 500;

/** A real server forgets versions that are older than this, and not twice as old. Longer than any case needs them. */
const forgetSeconds = 3;

/** Starts the programs in a directory (KUBEBUILDER_ASSETS) and connects to them. */
export async function startRealServer(programs: string): Promise<RealServer> {
  const server = await startApiServer(programs, { flags: [`--etcd-compaction-interval=${forgetSeconds}s`] });
  const wire = await openWire(server.url, server.token, { rejectUnauthorized: false }, settleMilliseconds);
  return {
    wire,
    async stop() {
      wire.close();
      await server.stop();
    },
  };
}
