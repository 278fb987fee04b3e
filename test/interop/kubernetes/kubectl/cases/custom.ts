// kubectl and custom resources.
import type { JsonMap } from '../../cases/case.ts';
import { type KubectlCase, outline, patient, withFiles } from '../case.ts';

const definition: JsonMap = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.kubectl.example.com' },
  spec: {
    group: 'kubectl.example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', shortNames: ['gg'], categories: ['things'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [
          { name: 'Size', type: 'string', jsonPath: '.spec.size' },
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', priority: 1 },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'string', enum: ['small', 'large'] },
                  replicas: { type: 'integer', minimum: 0, default: 1 },
                  parts: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
                },
                'x-kubernetes-validations': [
                  { rule: "self.size != 'small' || self.replicas < 5", message: 'small ones have few replicas' },
                ],
              },
              status: {
                type: 'object',
                properties: {
                  replicas: { type: 'integer' },
                  conditions: {
                    type: 'array',
                    items: {
                      type: 'object',
                      properties: { type: { type: 'string' }, status: { type: 'string' } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const gadget = (name: string, spec: JsonMap): JsonMap => ({
  apiVersion: 'kubectl.example.com/v1',
  kind: 'Gadget',
  metadata: { name },
  spec,
});

export const customCases: readonly KubectlCase[] = [
  withFiles(
    'custom resources',
    {
      'definition.json': definition,
      'a.json': gadget('a', { size: 'small' }),
      'b.json': gadget('a', { size: 'large', replicas: 3 }),
      'enum.json': gadget('e', { size: 'huge' }),
      'required.json': gadget('r', {}),
      'rule.json': gadget('c', { size: 'small', replicas: 9 }),
      'unknown.json': gadget('u', { size: 'small', colour: 'red' }),
      'type.json': gadget('t', { size: 3 }),
      'version.json': { ...gadget('v', { size: 'small' }), apiVersion: 'kubectl.example.com/v2' },
    },
    'apply -f definition.json',
    'wait crd/gadgets.kubectl.example.com --for=condition=Established --timeout=30s',
    'get crd gadgets.kubectl.example.com',
    'api-resources --api-group=kubectl.example.com',
    'get gadgets',
    'apply -f a.json',
    'get gadgets',
    'get gg -o wide',
    'get things',
    'get gadgets.v1.kubectl.example.com a -o yaml',
    'describe gadget a',
    'apply -f b.json',
    'diff -f a.json',
    'get gadget a -o jsonpath={.spec}',
    'scale gadget a --replicas=2',
    'get gadget a --subresource=scale',
    `patch gadget a --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'`,
    'wait gadget/a --for=condition=Ready --timeout=10s',
    `patch gadget a -p '{"spec":{"size":"small"}}'`,
    `patch gadget a --type=merge -p '{"spec":{"size":"small"}}'`,
    'label gadget a team=red',
    'apply -f enum.json',
    'apply -f required.json',
    'apply -f rule.json',
    'apply -f unknown.json',
    'apply -f unknown.json --validate=ignore',
    'apply -f type.json',
    'apply -f version.json',
    'apply --server-side -f a.json --field-manager=other',
    'get gadget nothing',
    'explain gadget --api-version=kubectl.example.com/v2',
    'delete gadgets --all',
    'delete crd gadgets.kubectl.example.com',
    'get gadgets',
  ),
  withFiles(
    'custom resources explained',
    {
      'definition.json': JSON.stringify(definition)
        .replaceAll('gadget', 'gizmo')
        .replaceAll('Gadget', 'Gizmo')
        .replaceAll('"gg"', '"gz"')
        .replaceAll('kubectl.example.com', 'explained.example.com')
        .replaceAll('"things"', '"matters"'),
    },
    'create -f definition.json',
    'wait crd/gizmos.explained.example.com --for=condition=Established --timeout=30s',
    'create -f definition.json',
    patient(outline('explain gizmos --recursive')),
    outline('explain gz.spec.parts'),
    outline('explain gizmos.spec.nothing --api-version=explained.example.com/v1'),
    'delete -f definition.json',
  ),
];
