// Errors of storage services: XML with a code, also in a header.
import { ArmError } from '../../../arm/errors.ts';

const messages: { readonly [code: string]: string } = {
  AuthenticationFailed:
    'Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.',
  AuthorizationFailure: 'This request is not authorized to perform this operation.',
  AuthorizationPermissionMismatch: 'This request is not authorized to perform this operation using this permission.',
  AuthorizationResourceTypeMismatch:
    'This request is not authorized to perform this operation using this resource type.',
  AuthorizationServiceMismatch: 'This request is not authorized to perform this operation using this service.',
  BlobAlreadyExists: 'The specified blob already exists.',
  BlobNotFound: 'The specified blob does not exist.',
  CannotVerifyCopySource: 'Could not verify the copy source within the specified time.',
  ConditionNotMet: 'The condition specified using HTTP conditional header(s) is not met.',
  ContainerAlreadyExists: 'The specified container already exists.',
  ContainerNotFound: 'The specified container does not exist.',
  InvalidBlobOrBlock: 'The specified blob or block content is invalid.',
  InvalidBlobType: 'The blob type is invalid for this operation.',
  InvalidBlockId: 'The specified block ID is invalid. The block ID must be Base64-encoded.',
  InvalidBlockList: 'The specified block list is invalid.',
  InvalidHeaderValue: 'The value for one of the HTTP headers is not in the correct format.',
  InvalidInput: 'One of the request inputs is not valid.',
  InvalidMd5: 'The MD5 value specified in the request is invalid. MD5 value must be 128 bits and Base64-encoded.',
  InvalidMetadata: 'The metadata specified is invalid. It has characters that are not permitted.',
  InvalidQueryParameterValue: 'Value for one of the query parameters specified in the request URI is invalid.',
  InvalidRange: 'The range specified is invalid for the current size of the resource.',
  InvalidResourceName: 'The specified resource name contains invalid characters.',
  InvalidUri: 'The requested URI does not represent any resource on the server.',
  InvalidXmlDocument: 'XML specified is not syntactically valid.',
  KeyBasedAuthenticationNotPermitted: 'Key based authentication is not permitted on this storage account.',
  LeaseAlreadyPresent: 'There is already a lease present.',
  LeaseIdMismatchWithBlobOperation: 'The lease ID specified did not match the lease ID for the blob.',
  LeaseIdMismatchWithContainerOperation: 'The lease ID specified did not match the lease ID for the container.',
  LeaseIdMismatchWithLeaseOperation: 'The lease ID specified did not match the lease ID for the blob/container.',
  LeaseIdMissing: 'There is currently a lease on the resource and no lease ID was specified in the request.',
  LeaseLost: 'A lease ID was specified, but the lease for the resource has expired.',
  LeaseNotPresentWithBlobOperation: 'There is currently no lease on the blob.',
  LeaseNotPresentWithContainerOperation: 'There is currently no lease on the container.',
  LeaseNotPresentWithLeaseOperation: 'There is currently no lease on the blob/container.',
  Md5Mismatch: 'The MD5 value specified in the request did not match with the MD5 value calculated by the server.',
  MissingContentLengthHeader: 'The Content-Length header was not specified.',
  MissingRequiredHeader: "An HTTP header that's mandatory for this request is not specified.",
  NoAuthenticationInformation:
    'Server failed to authenticate the request. Please refer to the information in the www-authenticate header.',
  OutOfRangeInput: 'One of the request inputs is out of range.',
  PublicAccessNotPermitted: 'Public access is not permitted on this storage account.',
  RequestBodyTooLarge: 'The request body is too large and exceeds the maximum permissible limit.',
  ResourceNotFound: 'The specified resource does not exist.',
  FeatureNotSupported: 'The feature is not supported by the storage of this cloud.',
  UnsupportedHttpVerb: "The resource doesn't support specified Http Verb.",
};

/** The message goes with the code unless one is given. */
export function storageError(
  status: number,
  code: string,
  message?: string,
  headers?: Readonly<Record<string, string>>,
): ArmError {
  return new ArmError(status, code, message ?? messages[code] ?? code, headers === undefined ? {} : { headers });
}
