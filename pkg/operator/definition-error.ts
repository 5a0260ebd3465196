/** A resource or a controller is defined in a way that cannot work. Thrown before anything runs. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
  readonly reason = 'InvalidDefinition';
}
