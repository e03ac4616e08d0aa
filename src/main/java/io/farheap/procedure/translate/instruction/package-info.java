/**
 * The subset of Java bytecode that is admitted: instructions and methods, their types, the operands that they pop and
 * push, and the messages of refusals. Begin with {@link io.farheap.procedure.translate.instruction.Op} and
 * {@link io.farheap.procedure.translate.instruction.CallMethod}.
 */
@NullMarked
package io.farheap.procedure.translate.instruction;

import org.jspecify.annotations.NullMarked;
