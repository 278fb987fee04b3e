import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../object.ts';
import { decodeProtobuf, ProtobufError } from './decode.ts';

/** A pod as a real kube-apiserver sends it to clients that ask for protobuf. */
const pod = Buffer.from(
  'azhzAAoJCgJ2MRIDUG9kEv8MCrwICgRmdWxsEgAaB2RlZmF1bHQiACokMzgxODhiMTQtZDdlYy00OGEzLTk1MzUtMTM1YTkwZjkyODRiMgUzMDUxMjgBQggI8ILm1wYQAIoB7AcKAXgSBlVwZGF0ZRoCdjEiCAjwgubXBhAAMghGaWVsZHNWMTrEBwrBB3siZjpzcGVjIjp7ImY6Y29udGFpbmVycyI6eyJrOntcIm5hbWVcIjpcImNcIn0iOnsiLiI6e30sImY6ZW52Ijp7Ii4iOnt9LCJrOntcIm5hbWVcIjpcIkFcIn0iOnsiLiI6e30sImY6bmFtZSI6e30sImY6dmFsdWVGcm9tIjp7Ii4iOnt9LCJmOmNvbmZpZ01hcEtleVJlZiI6e319fX0sImY6ZW52RnJvbSI6e30sImY6aW1hZ2UiOnt9LCJmOmltYWdlUHVsbFBvbGljeSI6e30sImY6bGl2ZW5lc3NQcm9iZSI6eyIuIjp7fSwiZjpmYWlsdXJlVGhyZXNob2xkIjp7fSwiZjpodHRwR2V0Ijp7Ii4iOnt9LCJmOnBhdGgiOnt9LCJmOnBvcnQiOnt9LCJmOnNjaGVtZSI6e319LCJmOnBlcmlvZFNlY29uZHMiOnt9LCJmOnN1Y2Nlc3NUaHJlc2hvbGQiOnt9LCJmOnRpbWVvdXRTZWNvbmRzIjp7fX0sImY6bmFtZSI6e30sImY6cmVzb3VyY2VzIjp7Ii4iOnt9LCJmOnJlcXVlc3RzIjp7Ii4iOnt9LCJmOmNwdSI6e319fSwiZjpzZWN1cml0eUNvbnRleHQiOnsiLiI6e30sImY6cHJpdmlsZWdlZCI6e30sImY6cnVuQXNVc2VyIjp7fX0sImY6dGVybWluYXRpb25NZXNzYWdlUGF0aCI6e30sImY6dGVybWluYXRpb25NZXNzYWdlUG9saWN5Ijp7fX19LCJmOmRuc1BvbGljeSI6e30sImY6ZW5hYmxlU2VydmljZUxpbmtzIjp7fSwiZjpyZXN0YXJ0UG9saWN5Ijp7fSwiZjpzY2hlZHVsZXJOYW1lIjp7fSwiZjpzZWN1cml0eUNvbnRleHQiOnt9LCJmOnRlcm1pbmF0aW9uR3JhY2VQZXJpb2RTZWNvbmRzIjp7fSwiZjp0b2xlcmF0aW9ucyI6e30sImY6dm9sdW1lcyI6eyIuIjp7fSwiazp7XCJuYW1lXCI6XCJjXCJ9Ijp7Ii4iOnt9LCJmOmNvbmZpZ01hcCI6eyIuIjp7fSwiZjpkZWZhdWx0TW9kZSI6e30sImY6aXRlbXMiOnt9LCJmOm5hbWUiOnt9fSwiZjpuYW1lIjp7fX0sIms6e1wibmFtZVwiOlwidlwifSI6eyIuIjp7fSwiZjplbXB0eURpciI6eyIuIjp7fSwiZjpzaXplTGltaXQiOnt9fSwiZjpuYW1lIjp7fX19fX1CABKYBAoQCgF2EgsSCQoAEgUKAzFHaQoYCgFjEhOaARAKAwoBeBIGCgFhEgFiGKQDCoQBChVrdWJlLWFwaS1hY2Nlc3MtZmQ0eGoSa9IBaAoOIgwKABCXHBoFdG9rZW4KKBomChIKEGt1YmUtcm9vdC1jYS5jcnQSEAoGY2EuY3J0EgZjYS5jcnQKKRInCiUKCW5hbWVzcGFjZRIYCgJ2MRISbWV0YWRhdGEubmFtZXNwYWNlEKQDEuMBCgFjEgFpKgA6EwoBQRIAGgwaCgoDCgF4EgFrGAFCDxINCgNjcHUSBgoEMTAwbUpMChVrdWJlLWFwaS1hY2Nlc3MtZmQ0eGoQARotL3Zhci9ydW4vc2VjcmV0cy9rdWJlcm5ldGVzLmlvL3NlcnZpY2VhY2NvdW50IgAyAFIlChkSFwoBLxIKCAEQABoEaHR0cBoAIgRIVFRQEAAYASAKKAEwA2oUL2Rldi90ZXJtaW5hdGlvbi1sb2dyBkFsd2F5c3oEEAAgAIABAIgBAJABAJoBCQoAGgUKAwoBc6IBBEZpbGUaBkFsd2F5cyAeMgxDbHVzdGVyRmlyc3RCB2RlZmF1bHRKB2RlZmF1bHRSAFgAYABoAHIAggEAigEAmgERZGVmYXVsdC1zY2hlZHVsZXKyAQ4KABIGRXhpc3RzGgAiAMIBAMgBAPABAfoBFFByZWVtcHRMb3dlclByaW9yaXR5GiMKB1BlbmRpbmcaACIAKgAyAEoJQnVyc3RhYmxlWgByAIgBABoAIgA=',
  'base64',
);

test('messages are read into the JSON they stand for', () => {
  const { apiVersion, kind, metadata = {}, spec = {} } = decodeProtobuf(pod) as Record<string, JsonObject>;
  assert.deepEqual([apiVersion, kind, metadata.name], ['v1', 'Pod', 'full']);
  assert.match(String(metadata.creationTimestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const [managed = {}] = metadata.managedFields as JsonObject[];
  assert.ok((managed.fieldsV1 as JsonObject)['f:spec'], 'JSON within a message');
  const [scratch, config] = spec.volumes as JsonObject[];
  assert.deepEqual(scratch, { name: 'v', emptyDir: { medium: '', sizeLimit: '1Gi' } }, 'inline members, quantities');
  assert.deepEqual(config, {
    name: 'c',
    configMap: { name: 'x', items: [{ key: 'a', path: 'b' }], defaultMode: 420 },
  });
  const [container = {}] = spec.containers as JsonObject[];
  assert.deepEqual(container.resources, { requests: { cpu: '100m' } }, 'maps of messages');
  const probe = container.livenessProbe as { httpGet: { port: unknown } };
  assert.equal(probe.httpGet.port, 'http', 'a number or a text');
  assert.deepEqual(container.env, [
    { name: 'A', value: '', valueFrom: { configMapKeyRef: { name: 'x', key: 'k', optional: true } } },
  ]);
  assert.deepEqual(container.securityContext, { privileged: false, runAsUser: 0 });
});

test('whatever the bytes are, they are read or refused', () => {
  const magic = Buffer.from('k8s\0');
  assert.throws(() => decodeProtobuf(Buffer.from('{}')), /does not appear to be a protobuf message/);
  assert.throws(() => decodeProtobuf(magic), /'Kind' is missing/);
  const trying = (bytes: Buffer): void => {
    try {
      decodeProtobuf(bytes);
    } catch (error) {
      assert.ok(error instanceof ProtobufError, String(error));
    }
  };
  for (let length = 0; length < pod.length; length += 1) trying(pod.subarray(0, length));
  fc.assert(
    fc.property(fc.nat(pod.length - 1), fc.nat(255), (at, byte) => {
      const changed = Buffer.from(pod);
      changed[at] = byte;
      trying(changed);
    }),
    { numRuns: 2000 },
  );
});
