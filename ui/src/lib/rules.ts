/** What the end of a declared capability means, as policy reads it. For words only: the decision is made in the core. */
export type CapabilityClass = 'read' | 'list' | 'write' | 'create' | 'update' | 'delete' | 'execute' | 'network';

const CLASSES: readonly string[] = ['read', 'list', 'write', 'create', 'update', 'delete', 'execute', 'network'] satisfies CapabilityClass[];

/** Class of a capability: the text after its last colon, in lower case; `null` for anything else. */
export function classOf(capability: string): CapabilityClass | null {
  const suffix = capability.slice(capability.lastIndexOf(':') + 1).toLowerCase();
  return CLASSES.includes(suffix) ? (suffix as CapabilityClass) : null;
}
