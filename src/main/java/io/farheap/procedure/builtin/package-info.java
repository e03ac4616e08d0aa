/**
 * Procedures that every server has, over documented layouts; written as users write theirs, and translated like them.
 * Words are 8 bytes, little-endian; addresses are cache addresses, and 0 ends a chain. Places of arguments and results
 * are in bytes.
 */
@NullMarked
package io.farheap.procedure.builtin;

import org.jspecify.annotations.NullMarked;
