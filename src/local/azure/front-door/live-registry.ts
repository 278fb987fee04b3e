// The namespaces and types of the cloud while providers come and go.
import { createRegistry, type Registry } from '../arm/registry.ts';
import type { Provider } from '../kernel/provider.ts';

/** Made anew when the version has changed. */
export function liveRegistry(providers: () => readonly Provider[], version: () => number): Registry {
  let made = { version: version(), registry: createRegistry(providers()) };
  const now = (): Registry => {
    if (made.version !== version()) made = { version: version(), registry: createRegistry(providers()) };
    return made.registry;
  };
  return {
    get namespaces() {
      return now().namespaces;
    },
    namespace: (name) => now().namespace(name),
    type: (fullType) => now().type(fullType),
    demand: (id, apiVersion) => now().demand(id, apiVersion),
    demandType: (namespace, type, apiVersion) => now().demandType(namespace, type, apiVersion),
  };
}
