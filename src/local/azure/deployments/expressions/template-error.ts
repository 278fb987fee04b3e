// What is wrong with a template, in the words that Resource Manager has for it.
import { ArmError } from '../../../../arm/errors.ts';

/** A mistake in an expression or in a template; becomes `InvalidTemplate` or `DeploymentFailed` at the edge. */
export class TemplateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TemplateError';
  }
}

/** 400 `InvalidTemplate`, as the validation of a whole template gives it. */
export function validationFailed(message: string): ArmError {
  return new ArmError(400, 'InvalidTemplate', `Deployment template validation failed: '${message}'.`);
}

/** 400 `InvalidTemplate`, as expressions that cannot be evaluated give it. `where` says for what: a resource, outputs. */
export function expressionFailed(where: string, message: string): ArmError {
  return new ArmError(
    400,
    'InvalidTemplate',
    `Unable to process template language expressions for ${where}. '${message}'`,
  );
}
