/**
 * From the bytes of a user's class to admitted instructions, or a refusal that names class, line and rule. Begin with
 * {@link io.farheap.procedure.translate.reading.ClassReader}, then
 * {@link io.farheap.procedure.translate.reading.CodeReader}.
 */
@NullMarked
package io.farheap.procedure.translate.reading;

import org.jspecify.annotations.NullMarked;
