// Every case of the built-in types.

import { appsCases } from './apps.ts';
import { batchCases } from './batch.ts';
import type { CreateCase, TypeCases, UpdateCase } from './case.ts';
import { configCases } from './config.ts';
import { coreCases } from './core.ts';
import { extensionCases } from './extension.ts';
import { networkingCases } from './networking.ts';
import { podsCases } from './pods.ts';
import { rbacCases } from './rbac.ts';
import { smallGroupsCases } from './small-groups.ts';
import { storageCases } from './storage.ts';

const parts: readonly TypeCases[] = [
  configCases,
  podsCases,
  networkingCases,
  storageCases,
  coreCases,
  appsCases,
  batchCases,
  rbacCases,
  extensionCases,
  smallGroupsCases,
];

/** Named by resource, counted within it. */
export const acceptedCreates: readonly CreateCase[] = Object.values(
  Object.groupBy(
    parts.flatMap(({ accepted }) => accepted),
    ({ resource }) => resource,
  ),
).flatMap((list = []) => list.map((one, index) => ({ name: `${one.resource} ${index + 1}`, ...one })));

export const refusedCreates: readonly CreateCase[] = parts.flatMap((part) => part.refusedCreates);

export const refusedUpdates: readonly UpdateCase[] = parts.flatMap((part) => part.refusedUpdates);
