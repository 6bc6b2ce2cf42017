/** Something in Redis (or on its way there) that is not in a format this release reads. Trying again does not help. */
export class StoredFormatError extends Error {
  override readonly name = 'StoredFormatError';
}
