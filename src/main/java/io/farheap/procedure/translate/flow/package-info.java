/**
 * What can be known of a procedure before it runs: types at each instruction, blocks and loops, live variables, own
 * methods put in place, and how far a loop's turns can be checked ahead. It stands on the instructions that were read;
 * begin with {@link io.farheap.procedure.translate.flow.TypeFlow} and
 * {@link io.farheap.procedure.translate.flow.ControlFlow}, then
 * {@link io.farheap.procedure.translate.flow.PrecheckedLoop}.
 */
@NullMarked
package io.farheap.procedure.translate.flow;

import org.jspecify.annotations.NullMarked;
