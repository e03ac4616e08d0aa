/**
 * Reads the bytes of a user's class into admitted instructions, or refuses it with class, line and rule. Begin with
 * {@link io.farheap.procedure.translate.reading.ClassReader}, then
 * {@link io.farheap.procedure.translate.reading.CodeReader}.
 */
@NullMarked
package io.farheap.procedure.translate.reading;

import org.jspecify.annotations.NullMarked;
