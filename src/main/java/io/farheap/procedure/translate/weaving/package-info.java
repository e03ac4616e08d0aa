/**
 * Writes the bytecode of a procedure: its instructions with fuel, checked accesses and resume points woven in, and
 * loops once more for turns that are counted before they run. It uses flow; begin with
 * {@link io.farheap.procedure.translate.weaving.LinkedProcedure}, its input, then
 * {@link io.farheap.procedure.translate.weaving.MethodWeaver}.
 */
@NullMarked
package io.farheap.procedure.translate.weaving;

import org.jspecify.annotations.NullMarked;
