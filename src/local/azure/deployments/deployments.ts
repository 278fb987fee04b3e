// Microsoft.Resources/deployments: templates deployed to resource groups, subscriptions, management groups and the tenant.
//
//   expressions/  the language in square brackets
//   template/     a template read, planned and evaluated; knows nothing of the cloud
//   run/          a deployment carried out and recorded, step by step
//
// To the kernel a deployment is a resource whose effect is to deploy: its operation is what clients poll, and what is taken up again
// after the process was killed.
import { ArmError } from '../../../arm/errors.ts';
import { parseResourceId } from '../../../arm/resource-id.ts';
import type { Provider, ResourceType } from '../kernel/provider.ts';
import type { DeploymentsOptions } from './accept.ts';
import { deploymentApiVersions } from './api-versions.ts';
import { deploymentRoutes } from './routes.ts';
import { openIntent } from './run/intent.ts';
import { createNesting } from './run/nesting.ts';
import { forgetRun, keyOf, progressReader, readRun, runKey } from './run/progress.ts';

/** The part of Microsoft.Resources that is about deployments. */
export function deploymentsProvider(options: DeploymentsOptions = {}): Provider {
  /** Runs that were asked to stop. */
  const cancelled = new Set<string>();
  const nesting = createNesting(options.nestedResourcesMax);
  const progressOf = progressReader();

  const type: ResourceType = {
    type: 'deployments',
    apiVersions: deploymentApiVersions,
    scope: 'extension',
    location: 'none',
    name: {
      form: /^[\p{L}\p{N}_.()-]{1,64}$/u,
      rule: 'The name of a deployment has 1 to 64 letters, digits, hyphens, underscores, full stops and parentheses.',
    },
    asynchrony: { create: 'operation', update: 'operation', delete: 'operation', headers: 'Azure-AsyncOperation' },
    etags: false,
    busy: ({ resource }) =>
      new ArmError(
        409,
        'DeploymentActive',
        `Unable to edit or replace deployment '${resource.name}': previous deployment from '${String(resource.properties?.timestamp)}' is still active. Please see https://aka.ms/arm-deploy for usage details.`,
      ),
    // The language of templates is loaded with the first deployment.
    async prepare(request) {
      const { acceptDeployment } = await import('./accept.ts');
      return acceptDeployment(request, options, nesting.of(request.id.key), nesting);
    },
    async effect(world, { kind, id, record }) {
      const key = keyOf(id, record);
      const progress = await progressOf(world);
      if (kind === 'delete') {
        await forgetRun(progress, key);
        return undefined;
      }
      if (record.secrets?.intent === undefined) return undefined;
      const { execute } = await import('./run/execute.ts');
      const intent = await openIntent(record.secrets.intent);
      if (intent.previous !== undefined) await forgetRun(progress, runKey(id, intent.previous));
      try {
        await execute({ world, progress, id, key, intent, isCancelled: () => cancelled.has(key.run), nesting });
      } finally {
        cancelled.delete(key.run);
        if (intent.nested === undefined) nesting.ended(key.run);
      }
      return undefined;
    },
    async show(world, record) {
      const parsed = parseResourceId(record.resource.id);
      const run = parsed.ok ? await readRun(await progressOf(world), keyOf(parsed.id, record)) : undefined;
      const { shownDeployment } = await import('./show.ts');
      return shownDeployment(record, run);
    },
    actions: {
      cancel: {
        async run(request) {
          const { cancelDeployment } = await import('./cancel.ts');
          return cancelDeployment(request, progressOf, cancelled);
        },
      },
      exporttemplate: {
        async run({ id, record }) {
          const sealed = record.secrets?.intent;
          if (sealed === undefined) return { template: {} };
          const { template, closed } = await openIntent(sealed);
          if (closed) {
            throw new ArmError(
              409,
              'DeploymentTemplateNotAvailable',
              `The template of the deployment '${id.name}' was evaluated within another one and may hold secret values of it. Export the template of that deployment.`,
            );
          }
          return { template };
        },
      },
    },
  };
  return {
    namespace: 'Microsoft.Resources',
    alwaysRegistered: true,
    types: [type],
    routes: deploymentRoutes(options, progressOf),
  };
}
