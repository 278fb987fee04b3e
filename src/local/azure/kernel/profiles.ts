// How long things take, as data. A profile is a table from `<full type>/<verb>` to milliseconds; the longest pattern that fits wins.

export type ProfileName = 'instant' | 'demo' | 'azure';

export interface Profile {
  readonly name: ProfileName;
  /** Asked of pollers, in seconds; 0 lets SDKs ask again at once. */
  readonly retryAfterSeconds: number;
  /** By pattern of `<type>/<create|update|delete|action name>`, folded: `microsoft.compute/virtualmachines/create`, `*` at the end or alone. */
  readonly durations: { readonly [pattern: string]: number };
}

/** How many milliseconds a verb on a type takes. */
export function durationOf(profile: Profile, type: string, verb: string): number {
  const asked = `${type}/${verb}`.toLowerCase();
  let best = -1;
  let found = 0;
  for (const [pattern, ms] of Object.entries(profile.durations)) {
    const fits = pattern.endsWith('*') ? asked.startsWith(pattern.slice(0, -1)) : asked === pattern;
    if (fits && pattern.length > best) {
      best = pattern.length;
      found = ms;
    }
  }
  return found;
}

const second = 1000;
const minute = 60 * second;

export const profiles: { readonly [name in ProfileName]: Profile } = {
  instant: { name: 'instant', retryAfterSeconds: 0, durations: { '*': 0 } },
  demo: {
    name: 'demo',
    retryAfterSeconds: 1,
    durations: {
      '*': 300,
      'microsoft.compute/virtualmachines/create': 3 * second,
      'microsoft.compute/virtualmachines/*': 2 * second,
      'microsoft.compute/virtualmachinescalesets/*': 3 * second,
      'microsoft.containerservice/managedclusters/*': 4 * second,
      'microsoft.dbforpostgresql/flexibleservers/*': 3 * second,
      'microsoft.documentdb/databaseaccounts/*': 3 * second,
      'microsoft.network/loadbalancers/*': second,
      'microsoft.network/privateendpoints/*': second,
      'microsoft.resources/resourcegroups/delete': second,
    },
  },
  azure: {
    name: 'azure',
    retryAfterSeconds: 10,
    durations: {
      '*': 4 * second,
      'microsoft.compute/virtualmachines/create': 90 * second,
      'microsoft.compute/virtualmachines/*': 40 * second,
      'microsoft.compute/virtualmachinescalesets/*': 2 * minute,
      'microsoft.containerservice/managedclusters/create': 5 * minute,
      'microsoft.containerservice/managedclusters/*': 4 * minute,
      'microsoft.dbforpostgresql/flexibleservers/*': 6 * minute,
      'microsoft.documentdb/databaseaccounts/*': 5 * minute,
      'microsoft.network/loadbalancers/*': 10 * second,
      'microsoft.network/privateendpoints/*': 30 * second,
      'microsoft.network/privatelinkservices/*': 15 * second,
      'microsoft.resources/resourcegroups/delete': 30 * second,
      'microsoft.cdn/*': minute,
      'microsoft.eventgrid/namespaces/create': 3 * minute,
    },
  },
};
