/**
 * Calls of procedures as they travel over message rings, for both ends: {@link io.farheap.procedure.format.CallFormat}.
 */
@NullMarked
package io.farheap.procedure.format;

import org.jspecify.annotations.NullMarked;
