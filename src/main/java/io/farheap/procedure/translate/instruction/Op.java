package io.farheap.procedure.translate.instruction;

import java.lang.classfile.Opcode;
import java.lang.constant.ConstantDesc;
import org.jspecify.annotations.Nullable;

/** An admitted instruction; targets are indices of instructions. */
public sealed interface Op {

    /** Line of the source; 0 if unknown. */
    int line();

    /** Arithmetic, conversions, comparisons, and instructions that move operands. */
    record Plain(Opcode opcode, int line) implements Op {}

    /** A constant. */
    record Push(Type type, ConstantDesc value, int line) implements Op {}

    record Load(Type type, int slot, int line) implements Op {}

    record Store(Type type, int slot, int line) implements Op {}

    record Increment(int slot, int by, int line) implements Op {}

    /** GOTO, or a branch on one or two ints. */
    record Jump(Opcode opcode, int target, int line) implements Op {}

    /**
     * A switch.
     *
     * @param targets one for each key, then the default
     */
    record Select(boolean table, int[] keys, int[] targets, int line) implements Op {}

    record ApiCall(CallMethod method, int line) implements Op {}

    record PureMethodCall(PureMethod method, int line) implements Op {}

    /** A call of one of the class's own methods; none is left after inlining. */
    record UserMethodCall(int method, int line) implements Op {}

    /** @param type null for void */
    record Return(@Nullable Type type, int line) implements Op {}

    /** Whether the next instruction never follows. */
    static boolean ends(Op op) {
        return op instanceof Return
                || op instanceof Select
                || (op instanceof Jump jump && (jump.opcode() == Opcode.GOTO || jump.opcode() == Opcode.GOTO_W));
    }

    /** The instructions that may follow, except the next one. */
    static int[] targets(Op op) {
        // Not a switch on patterns, here and on the way of each instruction: the first of each takes a millisecond to
        // link.
        if (op instanceof Jump jump) {
            return new int[] {jump.target()};
        }
        return op instanceof Select select ? select.targets() : NOWHERE;
    }

    int[] NOWHERE = {};
}
