// What a pod's volumes must look like.
import { duplicate, forbiddenField, invalidBy, invalidValue, required } from '../../schema/field-errors.ts';
import { dns1123Label } from '../../schema/names.ts';
import type { FieldError } from '../../status.ts';
import type { Projection, Volume } from './pod-spec.ts';
import { validateLocalPath } from './validate-container.ts';

/** In the order in which the server looks at them. */
const sources = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
];

/** The one member that a source is nothing without. */
const needed: Readonly<Record<string, string>> = {
  hostPath: 'path',
  secret: 'secretName',
  configMap: 'name',
  persistentVolumeClaim: 'claimName',
  csi: 'driver',
};

function validateProjection(source: Projection, field: string, volume: string): FieldError[] {
  const found: FieldError[] = [];
  for (const kind of ['secret', 'configMap'] as const) {
    if (source[kind] && !source[kind].name) found.push(required(`${field}.${kind}.name`));
  }
  const token = source.serviceAccountToken;
  if (token) {
    const seconds = token.expirationSeconds ?? 0;
    if (seconds < 600) {
      found.push(
        invalidValue(
          `${field}.serviceAccountToken.expirationSeconds`,
          seconds,
          'may not specify a duration less than 10 minutes',
        ),
      );
    }
    if (!token.path) found.push(required(`${volume}.path`));
    else found.push(...validateLocalPath(token.path, `${volume}.path`));
  }
  const kinds = Object.keys(source).length;
  if (kinds > 1) found.push(forbiddenField(field, 'may not specify more than 1 volume type per source'));
  if (kinds === 0) found.push(required(field, 'must specify a volume source'));
  return found;
}

function validateSource(volume: Volume, field: string): FieldError[] {
  const [first, ...others] = sources.filter((source) => volume[source] !== undefined);
  if (!first) return [required(field, 'must specify a volume type')];
  const found: FieldError[] = [];
  const member = needed[first];
  const source = volume[first] as Record<string, unknown>;
  if (member !== undefined && !source[member]) found.push(required(`${field}.${first}.${member}`));
  if (volume.hostPath && first === 'hostPath' && volume.hostPath.path.split('/').includes('..')) {
    found.push(invalidValue(`${field}.hostPath.path`, volume.hostPath.path, "must not contain '..'"));
  }
  const mode = source.defaultMode;
  if (typeof mode === 'number' && (mode < 0 || mode > 0o777)) {
    found.push(
      invalidValue(
        `${field}.${first}.defaultMode`,
        mode,
        'must be a number between 0 and 0777 (octal), both inclusive',
      ),
    );
  }
  if (volume.projected && first === 'projected') {
    for (const [index, projection] of (volume.projected.sources ?? []).entries()) {
      found.push(...validateProjection(projection, `${field}.projected.sources[${index}]`, `${field}.projected`));
    }
  }
  for (const other of others) {
    found.push(forbiddenField(`${field}.${other}`, 'may not specify more than 1 volume type'));
  }
  return found;
}

/** Checks volumes and gives the names of those that may be mounted. */
export function validateVolumes(
  volumes: readonly Volume[],
  field: string,
): { names: Set<string>; errors: FieldError[] } {
  const names = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, volume] of volumes.entries()) {
    const at = `${field}[${index}]`;
    const found = validateSource(volume, at);
    if (volume.name) found.push(...invalidBy(`${at}.name`, volume.name, dns1123Label(volume.name)));
    else found.push(required(`${at}.name`));
    if (names.has(volume.name)) found.push(duplicate(`${at}.name`, volume.name));
    if (found.length === 0) names.add(volume.name);
    errors.push(...found);
  }
  return { names, errors };
}
