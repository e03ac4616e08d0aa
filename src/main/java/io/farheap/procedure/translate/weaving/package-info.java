/**
 * Writes the bytecode of a procedure: instructions with fuel, checked accesses and resume points woven in, and loops
 * once more for turns that were checked ahead. It stands on flow; begin with
 * {@link io.farheap.procedure.translate.weaving.LinkedProcedure}, which is what is woven, then
 * {@link io.farheap.procedure.translate.weaving.MethodWeaver}.
 */
@NullMarked
package io.farheap.procedure.translate.weaving;

import org.jspecify.annotations.NullMarked;
