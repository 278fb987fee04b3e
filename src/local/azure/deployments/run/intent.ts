// What a deployment was asked to do, kept until it is done: the template, the values of its parameters, who asked. Sealed, for
// templates and parameters hold secrets; pressed, for templates are long.
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { ArmError } from '../../../../arm/errors.ts';
import { Secret } from '../../../../kit/secret.ts';
import type { CallerIdentity } from '../../kernel/provider.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import type { ParameterValue } from '../template/parameters.ts';
import type { Nested } from './nesting.ts';

export type Mode = 'Incremental' | 'Complete';

export interface Intent {
  readonly template: Json;
  readonly parameters: readonly ParameterValue[];
  readonly mode: Mode;
  readonly caller: CallerIdentity;
  /** Of the deployment itself, outside of resource groups. */
  readonly location?: string;
  readonly templateLink?: JsonObject;
  /** The run before this one, whose steps are forgotten. */
  readonly previous?: string;
  /** Values of the template around it, secret ones too, were filled into the template: it is not given away. */
  readonly closed?: true;
  /** Absent for deployments of clients. */
  readonly nested?: Nested;
}

const press = promisify(gzip);
const unpress = promisify(gunzip);

/** A document holds 2 MiB, of which sealing takes its share. */
const pressedMaxBytes = 1_000_000;
const unpressedMaxBytes = 64 * 1024 * 1024;

export async function sealIntent(intent: Intent): Promise<Secret<string>> {
  const pressed = await press(JSON.stringify(intent));
  if (pressed.length > pressedMaxBytes) {
    throw new ArmError(
      413,
      'RequestContentTooLarge',
      'The template and its parameters are too large to be kept, even when compressed.',
    );
  }
  return new Secret(pressed.toString('base64'));
}

export async function openIntent(sealed: Secret<string>): Promise<Intent> {
  const text = await unpress(Buffer.from(sealed.reveal(), 'base64'), { maxOutputLength: unpressedMaxBytes });
  return JSON.parse(text.toString('utf8')) as Intent;
}
