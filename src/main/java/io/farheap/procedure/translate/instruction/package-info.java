/**
 * The subset: which instructions and methods are admitted, their types, what they pop and push, and the words of
 * refusals. Begin with {@link io.farheap.procedure.translate.instruction.Op} and
 * {@link io.farheap.procedure.translate.instruction.CallMethod}.
 */
@NullMarked
package io.farheap.procedure.translate.instruction;

import org.jspecify.annotations.NullMarked;
