package io.farheap.procedure.translate.instruction;

import java.lang.classfile.Opcode;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Types of local variables and operands at one place. The second word of a wide local variable is null, as is a
 * variable without a value; a wide operand is one entry.
 */
public final class Operands {

    private static final int MOST = 256;

    public final @Nullable Type[] locals;
    private Type[] stack;
    private int depth;

    public Operands(int locals) {
        this.locals = new Type[locals];
        this.stack = new Type[8];
    }

    private Operands(Operands other) {
        locals = other.locals.clone();
        stack = other.stack.clone();
        depth = other.depth;
    }

    public Operands copy() {
        return new Operands(this);
    }

    public int depth() {
        return depth;
    }

    /** An operand; 0 is the bottom of the stack. */
    public Type operand(int index) {
        return stack[index];
    }

    public void push(Type type) {
        if (depth == MOST) {
            throw new Mismatch("more than " + MOST + " operands");
        }
        if (depth == stack.length) {
            stack = Arrays.copyOf(stack, depth * 2);
        }
        stack[depth++] = type;
    }

    Type pop() {
        if (depth == 0) {
            throw new Mismatch("an operand is missing");
        }
        return stack[--depth];
    }

    public void pop(Type type) {
        Type found = pop();
        if (found != type) {
            throw new Mismatch("an operand is " + found + " and should be " + type);
        }
    }

    /** As {@link StackEffects} writes it. */
    public void apply(String effect) {
        int arrow = effect.indexOf('>');
        for (int i = arrow - 1; i >= 0; i--) {
            pop(Type.of(effect.charAt(i)));
        }
        if (arrow + 1 < effect.length()) {
            push(Type.of(effect.charAt(arrow + 1)));
        }
    }

    public void load(Type type, int slot) {
        require(type, slot);
        push(type);
    }

    public void require(Type type, int slot) {
        if (slot >= locals.length || locals[slot] != type) {
            throw new Mismatch("local variable " + slot + " has no " + type + " on each way here");
        }
    }

    public void store(Type type, int slot) {
        pop(type);
        set(type, slot);
    }

    public void set(Type type, int slot) {
        if (slot + type.words() > locals.length) {
            throw new Mismatch("local variable " + slot + " is behind the last");
        }
        if (slot > 0) {
            Type before = locals[slot - 1];
            if (before != null && before.wide()) {
                locals[slot - 1] = null;
            }
        }
        locals[slot] = type;
        if (type.wide()) {
            locals[slot + 1] = null;
        }
    }

    public static boolean moves(Opcode opcode) {
        return switch (opcode) {
            case POP, POP2, DUP, DUP_X1, DUP_X2, DUP2, DUP2_X1, DUP2_X2, SWAP -> true;
            default -> false;
        };
    }

    public void move(Opcode opcode) {
        switch (opcode) {
            case POP -> one();
            case POP2 -> two();
            case SWAP -> {
                Type[] top = one();
                Type[] below = one();
                push(top);
                push(below);
            }
            case DUP -> duplicate(one(), new Type[0]);
            case DUP_X1 -> duplicate(one(), one());
            case DUP_X2 -> duplicate(one(), two());
            case DUP2 -> duplicate(two(), new Type[0]);
            case DUP2_X1 -> duplicate(two(), one());
            case DUP2_X2 -> duplicate(two(), two());
            default -> throw new Mismatch("it is not in the subset");
        }
    }

    private void duplicate(Type[] top, Type[] below) {
        push(top);
        push(below);
        push(top);
    }

    private void push(Type[] types) {
        for (Type type : types) {
            push(type);
        }
    }

    private Type[] one() {
        Type type = pop();
        if (type.wide()) {
            throw new Mismatch("it parts a " + type);
        }
        return new Type[] {type};
    }

    private Type[] two() {
        Type top = pop();
        return top.wide() ? new Type[] {top} : new Type[] {one()[0], top};
    }

    /** Merges another path that leads here; returns whether anything changed. */
    public boolean join(Operands other) {
        if (depth != other.depth) {
            throw new Mismatch("ways that meet here have " + depth + " and " + other.depth + " operands");
        }
        for (int i = 0; i < depth; i++) {
            if (stack[i] != other.stack[i]) {
                throw new Mismatch("ways that meet here have a " + stack[i] + " and a " + other.stack[i]);
            }
        }
        boolean changed = false;
        for (int i = 0; i < locals.length; i++) {
            if (locals[i] != null && locals[i] != other.locals[i]) {
                locals[i] = null;
                changed = true;
            }
        }
        return changed;
    }

    /** Types that do not fit. */
    public static final class Mismatch extends RuntimeException {

        @java.io.Serial
        private static final long serialVersionUID = 1L;

        public Mismatch(String message) {
            super(message, null, false, false);
        }
    }
}
