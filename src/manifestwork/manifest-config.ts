// Which configuration of a work is that of which manifest.
import type { ManifestConfig, ResourceIdentifier, ResourceMeta, UpdateStrategy } from './work.ts';

/** What the configurations that match a manifest say together. */
export type EffectiveConfig = Omit<ManifestConfig, 'resourceIdentifier'>;

/**
 * The configuration of one manifest. Group and resource match exactly, namespace and name may hold `*`. Of several that match,
 * the first that says something about a field decides it; the scrape type is decided by the last.
 */
export function configFor(meta: ResourceMeta, configs: readonly ManifestConfig[] = []): EffectiveConfig {
  let merged: EffectiveConfig = {};
  for (const { resourceIdentifier, ...config } of configs) {
    if (!resourceIdentifier || !matches(resourceIdentifier, meta)) continue;
    const { feedbackScrapeType = merged.feedbackScrapeType } = config;
    // An empty list of rules says nothing.
    const said = Object.fromEntries(
      Object.entries(config).filter(
        ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
      ),
    ) as EffectiveConfig;
    merged = {
      ...said,
      ...merged,
      ...(feedbackScrapeType === undefined ? {} : { feedbackScrapeType }),
    };
  }
  return merged;
}

export function strategyOf(config: EffectiveConfig): UpdateStrategy & { readonly type: string } {
  return { ...config.updateStrategy, type: config.updateStrategy?.type || 'Update' };
}

function matches(wanted: ResourceIdentifier, meta: ResourceMeta): boolean {
  return (
    (wanted.group ?? '') === meta.group &&
    (wanted.resource ?? '') === meta.resource &&
    wildcard(wanted.namespace ?? '', meta.namespace) &&
    wildcard(wanted.name ?? '', meta.name)
  );
}

/** Whether the text is the pattern, in which each `*` stands for any run of characters. Takes time linear in their product. */
export function wildcard(pattern: string, text: string): boolean {
  let at = 0;
  let p = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      resume = at;
    } else if (p < pattern.length && pattern[p] === text[at]) {
      p++;
      at++;
    } else if (star !== -1) {
      p = star + 1;
      at = ++resume;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
