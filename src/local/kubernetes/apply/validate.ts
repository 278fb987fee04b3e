// What an applied configuration must be for its fields to be tracked; the messages are the server's.
import type { JsonObject, JsonValue } from '../object.ts';
import { isObject } from '../patch/json-tree.ts';
import { goPrint } from '../patch/refused-patch.ts';
import { shapeOf } from './compare.ts';
import { elementText } from './fieldset.ts';
import { ItemError, itemElement } from './list-items.ts';
import { type ListType, type MapType, type ScalarType, type TypeNode, typeOf } from './type-node.ts';

/** Why a configuration cannot be applied, each with its path; empty when it can. */
export function configurationErrors(config: JsonObject, type: TypeNode): string[] {
  const errors: string[] = [];
  check(config, type, '', errors);
  return errors;
}

/** Several errors as one message. */
export const errorText = (errors: readonly string[]): string =>
  errors.length === 1 ? (errors[0] ?? '') : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');

function check(value: JsonValue, type: TypeNode, path: string, errors: string[]): void {
  if (value === null) return;
  const shape = shapeOf(type, value);
  if (shape === 'map' && type.map) checkMap(value, type.map, path, errors);
  else if (shape === 'list' && type.list) checkList(value, type.list, path, errors);
  else if (type.scalar) checkScalar(value, type.scalar, path, errors);
}

function checkMap(value: JsonValue, type: MapType, path: string, errors: string[]): void {
  if (!isObject(value)) {
    errors.push(`${path}: expected map, got &{${goPrint(value)}}`);
    return;
  }
  for (const member of Object.keys(value).sort()) {
    const child = typeOf(type, member);
    if (!child) {
      errors.push(`${path}.${member}: field not declared in schema`);
      return;
    }
    check(value[member] as JsonValue, child, `${path}.${member}`, errors);
  }
}

function checkList(value: JsonValue, type: ListType, path: string, errors: string[]): void {
  if (!Array.isArray(value)) {
    errors.push(`${path}: expected list, got &{${goPrint(value)}}`);
    return;
  }
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    let element = `i:${index}`;
    if (!type.atomic) {
      try {
        element = itemElement(type, item);
      } catch (error) {
        if (!(error instanceof ItemError)) throw error;
        errors.push(`${path}: element ${index}: ${error.message}`);
        return;
      }
      if (seen.has(element)) errors.push(`${path}: duplicate entries for key ${elementText(element)}`);
      seen.add(element);
    }
    check(item, type.element, path + elementText(element), errors);
  }
}

const scalarChecks: Readonly<Record<ScalarType, (value: JsonValue) => string | undefined>> = {
  numeric: (value) => (typeof value === 'number' ? undefined : `expected numeric (int or float), got ${goType(value)}`),
  string: (value) =>
    typeof value === 'string' ? undefined : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`,
  boolean: (value) => (typeof value === 'boolean' ? undefined : `expected boolean, got &{${goPrint(value)}}`),
  untyped: (value) => (typeof value === 'object' ? `expected any scalar, got &{${goPrint(value)}}` : undefined),
};

function checkScalar(value: JsonValue, type: ScalarType, path: string, errors: string[]): void {
  const error = scalarChecks[type](value);
  if (error !== undefined) errors.push(`${path}: ${error}`);
}

function goType(value: JsonValue): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** A value as Go's `%#v` prints it. */
function goSyntax(value: JsonValue): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!isObject(value)) return value === null ? 'interface {}(nil)' : JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((member) => `${JSON.stringify(member)}:${goSyntax(value[member] as JsonValue)}`);
  return `map[string]interface {}{${members.join(', ')}}`;
}
