package io.farheap.procedure.translate.reading;

import io.farheap.procedure.translate.instruction.Op;
import io.farheap.procedure.translate.instruction.Type;
import java.lang.classfile.Opcode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A method of a user's class.
 *
 * @param name with its descriptor
 * @param parameters types of its arguments
 * @param result null for void
 * @param narrowing instructions that a boolean, byte, char or short result goes through at a return; empty for others
 * @param locals words of local variables
 * @param ops not verified yet
 */
public record UserMethod(
        String name, List<Type> parameters, @Nullable Type result, List<Opcode> narrowing, int locals, List<Op> ops) {

    /**
     * The operands that a call pops and pushes, as in {@link io.farheap.procedure.translate.instruction.StackEffects}.
     */
    public String effect() {
        StringBuilder effect = new StringBuilder();
        parameters.forEach(type -> effect.append(type.letter));
        effect.append('>');
        return result == null ? effect.toString() : effect.append(result.letter).toString();
    }
}
