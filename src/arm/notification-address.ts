// Which addresses ARM can be told at, known when the operation starts: the client that goes there later has the same rules.
import type { GuardedClientOptions } from '../kit/guarded-client.ts';
import { checkHostPattern, checkUrl, GuardedRequestError, httpsPort } from '../kit/guarded-url.ts';

const addressMaxLength = 2048;

/**
 * A check of an address by its form, host and port; give it the options of the sender's client. What only a look-up of the host's name can
 * tell is left to the sender.
 */
export function notificationAddresses(
  options: Pick<GuardedClientOptions, 'allowedHosts' | 'allowedPorts'>,
): (address: string) => boolean {
  const hosts = options.allowedHosts.map(checkHostPattern);
  const ports = options.allowedPorts ?? [httpsPort];
  return (address) => {
    if (address.length > addressMaxLength) return false;
    try {
      checkUrl(address, hosts, ports);
      return true;
    } catch (error) {
      if (error instanceof GuardedRequestError) return false;
      throw error;
    }
  };
}
