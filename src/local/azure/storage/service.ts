// What an account's blob service does as a whole: its properties, keys for signing in the name of a user, and many requests in one.
import { isStoreError } from '../../../store/errors.ts';
import type { Grant } from './access.ts';
import { type StorageAnswer, type StorageCall, smallBody } from './call.ts';
import { readService, type ServiceBody } from './documents.ts';
import { storageError } from './errors.ts';
import { delegationKey } from './sas.ts';
import { child, declaration, element, field, readXml, textOf } from './xml.ts';

export async function getServiceProperties(call: StorageCall): Promise<StorageAnswer> {
  const found = await readService(call.documents, call.account.name);
  const website = found?.body.website;
  const retention = element('RetentionPolicy', field('Enabled', false));
  const metrics = [field('Version', '1.0'), field('Enabled', false), retention];
  return {
    status: 200,
    body: `${declaration}${element('StorageServiceProperties', [
      element('Logging', [
        field('Version', '1.0'),
        field('Delete', false),
        field('Read', false),
        field('Write', false),
        retention,
      ]),
      element('HourMetrics', metrics),
      element('MinuteMetrics', metrics),
      element('Cors', ''),
      field('DefaultServiceVersion', found?.body.defaultVersion),
      element('DeleteRetentionPolicy', field('Enabled', false)),
      element('StaticWebsite', [
        field('Enabled', website !== undefined),
        field('IndexDocument', website?.index),
        field('ErrorDocument404Path', website?.notFound),
      ]),
    ])}`,
  };
}

/** Static websites and the default version are kept; logging and metrics have nothing to be about here. */
export async function setServiceProperties(call: StorageCall): Promise<StorageAnswer> {
  const root = readXml((await smallBody(call, 64 * 1024)).toString('utf8'));
  if (root?.name !== 'StorageServiceProperties') throw storageError(400, 'InvalidXmlDocument');
  const site = child(root, 'StaticWebsite');
  const version = textOf(root, 'DefaultServiceVersion');
  const { documents, account } = call;
  for (;;) {
    const found = await readService(documents, account.name);
    const [index, notFound] = [textOf(site, 'IndexDocument'), textOf(site, 'ErrorDocument404Path')];
    const isOn = textOf(site, 'Enabled')?.toLowerCase() === 'true';
    const website =
      site === undefined
        ? found?.body.website
        : isOn
          ? { ...(index === undefined ? {} : { index }), ...(notFound === undefined ? {} : { notFound }) }
          : undefined;
    const body: ServiceBody = {
      kind: 'service',
      sort: 'service',
      ...(website === undefined ? {} : { website }),
      ...((version ?? found?.body.defaultVersion) === undefined
        ? {}
        : { defaultVersion: version ?? found?.body.defaultVersion ?? '' }),
    };
    try {
      if (found === undefined) await documents.create({ partition: account.name, id: 'service' }, body);
      else await documents.replace(found, body);
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'Exists', 'NotFound')) throw error;
      continue;
    }
    if (website !== undefined) {
      const { makeContainer } = await import('./containers.ts');
      await makeContainer(documents, account.name, '$web', call.world.clock.now());
    }
    return { status: 202 };
  }
}

export async function getDelegationKey(call: StorageCall, { caller }: Grant): Promise<StorageAnswer> {
  if (caller === undefined)
    throw storageError(
      403,
      'AuthorizationFailure',
      'Only a user or application with a token may get a user delegation key.',
    );
  const root = readXml((await smallBody(call, 4096)).toString('utf8'));
  const [start, expiry] = [textOf(root, 'Start'), textOf(root, 'Expiry')].map((text) => Date.parse(text ?? ''));
  const now = call.world.clock.now();
  const weekMs = 7 * 86_400_000;
  if (
    root?.name !== 'KeyInfo' ||
    expiry === undefined ||
    Number.isNaN(expiry) ||
    expiry <= now ||
    expiry > now + weekMs + 60_000
  )
    throw storageError(400, 'InvalidXmlDocument', 'The key must have an expiry that is ahead and within seven days.');
  const key = {
    objectId: caller.objectId,
    tenantId: caller.tenantId,
    start: seconds(start === undefined || Number.isNaN(start) ? now : start),
    expiry: seconds(expiry),
    service: 'b',
    version: String(call.headers['x-ms-version'] ?? '2020-12-06'),
  };
  return {
    status: 200,
    body: `${declaration}${element('UserDelegationKey', [
      field('SignedOid', key.objectId),
      field('SignedTid', key.tenantId),
      field('SignedStart', key.start),
      field('SignedExpiry', key.expiry),
      field('SignedService', key.service),
      field('SignedVersion', key.version),
      field('Value', delegationKey(call.account, key)),
    ])}`,
  };
}

function seconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

export async function accountInformation({ account }: StorageCall): Promise<StorageAnswer> {
  return {
    status: 200,
    headers: { 'x-ms-sku-name': account.sku, 'x-ms-account-kind': account.kind, 'x-ms-is-hns-enabled': 'false' },
  };
}
