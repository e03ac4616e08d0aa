/**
 * Analysis of a procedure before it runs: types at each instruction, blocks and loops, live variables, the inlining of
 * the class's own methods, and the number of turns of a loop that can be checked in advance. It works on the
 * instructions that were read; begin with {@link io.farheap.procedure.translate.flow.TypeFlow} and
 * {@link io.farheap.procedure.translate.flow.ControlFlow}, then
 * {@link io.farheap.procedure.translate.flow.PrecheckedLoop}.
 */
@NullMarked
package io.farheap.procedure.translate.flow;

import org.jspecify.annotations.NullMarked;
