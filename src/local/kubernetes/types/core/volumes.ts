// What persistent volumes and claims to them have in common.
import { forbiddenField, notSupported } from '../../schema/field-errors.ts';
import type { FieldError } from '../../status.ts';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const volumeModes = ['Block', 'Filesystem'];

export function validateAccessModes(modes: readonly string[], field: string): FieldError[] {
  const found = modes
    .filter((mode) => !accessModes.includes(mode))
    .map((mode) => notSupported(field, mode, accessModes));
  if (
    modes.includes('ReadWriteOncePod') &&
    modes.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode))
  ) {
    found.push(forbiddenField(field, 'may not use ReadWriteOncePod with other access modes'));
  }
  return found;
}

export const validateVolumeMode = (mode: string | undefined, field: string): FieldError[] =>
  mode !== undefined && !volumeModes.includes(mode) ? [notSupported(field, mode, volumeModes)] : [];
