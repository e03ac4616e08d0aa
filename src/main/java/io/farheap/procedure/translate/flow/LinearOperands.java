package io.farheap.procedure.translate.flow;

import io.farheap.procedure.translate.instruction.CallMethod;
import io.farheap.procedure.translate.instruction.Op;
import io.farheap.procedure.translate.instruction.Operands;
import io.farheap.procedure.translate.instruction.StackEffects;
import io.farheap.procedure.translate.instruction.Type;
import java.lang.classfile.Opcode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Local variables and operands at one place in a turn of a loop, each as a {@link LinearExpression}, or null if it is
 * none.
 */
final class LinearOperands {

    /**
     * An operand.
     *
     * @param compared the two longs, if the operand is the result of their comparison (LCMP)
     */
    private record Value(
            boolean wide,
            @Nullable LinearExpression number,
            @Nullable LinearComparison compared) {

        Value(boolean wide, @Nullable LinearExpression number) {
            this(wide, number, null);
        }
    }

    /** The two expressions that a branch compares. */
    record LinearComparison(LinearExpression first, LinearExpression second, boolean longs) {}

    final @Nullable LinearExpression[] locals;
    private final List<Value> stack;

    private LinearOperands(@Nullable LinearExpression[] locals, List<Value> stack) {
        this.locals = locals;
        this.stack = stack;
    }

    /** The state when a turn begins: each variable is itself, except those that do not change by an expression. */
    static LinearOperands start(Operands types, java.util.BitSet unknown) {
        @Nullable LinearExpression[] locals = new LinearExpression[types.locals.length];
        for (int slot = 0; slot < locals.length; slot++) {
            Type type = types.locals[slot];
            if ((type == Type.INT || type == Type.LONG) && !unknown.get(slot)) {
                locals[slot] = LinearExpression.ofLocal(slot);
            }
        }
        List<Value> stack = new ArrayList<>();
        for (int i = 0; i < types.depth(); i++) {
            stack.add(new Value(types.operand(i).wide(), null));
        }
        return new LinearOperands(locals, stack);
    }

    LinearOperands copy() {
        return new LinearOperands(locals.clone(), new ArrayList<>(stack));
    }

    /** Merges another path that leads here: values that differ become unknown. */
    void join(LinearOperands other) {
        for (int i = 0; i < locals.length; i++) {
            if (!Objects.equals(locals[i], other.locals[i])) {
                locals[i] = null;
            }
        }
        for (int i = 0; i < stack.size(); i++) {
            if (!stack.get(i).equals(other.stack.get(i))) {
                stack.set(i, new Value(stack.get(i).wide, null));
            }
        }
    }

    /**
     * Executes an instruction.
     *
     * @return the address if it is a load from or a store to the cache, and known; otherwise null
     */
    @Nullable
    LinearExpression apply(Op op) {
        switch (op) {
            case Op.Plain plain -> plain(plain.opcode());
            case Op.Push push -> push(push.type().wide(), constant(push));
            case Op.Load load -> push(load.type().wide(), locals[load.slot()]);
            case Op.Store store -> store(store.slot(), store.type(), pop());
            case Op.Increment by -> {
                LinearExpression old = locals[by.slot()];
                locals[by.slot()] = old == null ? null : old.plus(LinearExpression.of(by.by()));
            }
            case Op.Jump jump -> effect(Objects.requireNonNull(StackEffects.of(jump.opcode())));
            case Op.Select _ -> pop();
            case Op.ApiCall on -> {
                return call(on.method());
            }
            case Op.PureMethodCall pure -> effect(pure.method().effect());
            case Op.UserMethodCall _, Op.Return _ -> throw new IllegalStateException("not in a loop");
        }
        return null;
    }

    /** The comparison of the branch that follows, or null if it does not compare expressions. */
    @Nullable
    LinearComparison compared(Opcode opcode) {
        if (stack.isEmpty()) {
            return null;
        }
        Value top = stack.getLast();
        return switch (opcode) {
            case IFLT, IFLE, IFGT, IFGE -> top.number == null ? top.compared : ints(top.number, LinearExpression.of(0));
            case IF_ICMPLT, IF_ICMPLE, IF_ICMPGT, IF_ICMPGE -> ints(stack.get(stack.size() - 2).number, top.number);
            default -> null;
        };
    }

    private static @Nullable LinearComparison ints(
            @Nullable LinearExpression first, @Nullable LinearExpression second) {
        return first == null || second == null ? null : new LinearComparison(first.widened(), second.widened(), false);
    }

    private @Nullable LinearExpression call(CallMethod method) {
        LinearExpression address = null;
        if (method.kind == CallMethod.Kind.GET || method.kind == CallMethod.Kind.PUT) {
            address = stack.get(stack.size() - (method.kind == CallMethod.Kind.GET ? 1 : 2)).number;
        }
        effect(method.effect);
        return address;
    }

    private static @Nullable LinearExpression constant(Op.Push push) {
        return switch (push.value()) {
            case Integer value -> LinearExpression.of(value);
            case Long value -> LinearExpression.of(value);
            default -> null;
        };
    }

    private void store(int slot, Type type, @Nullable LinearExpression value) {
        locals[slot] = value;
        if (type.wide()) {
            locals[slot + 1] = null;
        }
    }

    private void push(boolean wide, @Nullable LinearExpression number) {
        stack.add(new Value(wide, number));
    }

    private @Nullable LinearExpression pop() {
        return stack.removeLast().number;
    }

    private void effect(String effect) {
        int arrow = effect.indexOf('>');
        for (int i = 0; i < arrow; i++) {
            stack.removeLast();
        }
        if (arrow + 1 < effect.length()) {
            push(Type.of(effect.charAt(arrow + 1)).wide(), null);
        }
    }

    private void plain(Opcode opcode) {
        switch (opcode) {
            case IADD, LADD -> {
                LinearExpression second = pop();
                LinearExpression first = pop();
                push(opcode == Opcode.LADD, first == null || second == null ? null : first.plus(second));
            }
            case ISUB, LSUB -> {
                LinearExpression second = pop();
                LinearExpression first = pop();
                push(opcode == Opcode.LSUB, first == null || second == null ? null : first.plus(second.times(-1)));
            }
            case IMUL, LMUL -> {
                LinearExpression second = pop();
                push(opcode == Opcode.LMUL, product(pop(), second));
            }
            case ISHL, LSHL -> {
                LinearExpression by = pop();
                LinearExpression shifted = pop();
                int most = opcode == Opcode.LSHL ? 63 : 31;
                push(
                        opcode == Opcode.LSHL,
                        shifted != null && by != null && by.isConstant()
                                ? shifted.times(1L << (by.constant() & most))
                                : null);
            }
            case INEG, LNEG -> {
                LinearExpression old = pop();
                push(opcode == Opcode.LNEG, old == null ? null : old.times(-1));
            }
            case I2L -> {
                LinearExpression old = pop();
                push(true, old == null ? null : old.widened());
            }
            case L2I -> push(false, pop());
            case LCMP -> {
                LinearExpression second = pop();
                LinearExpression first = pop();
                stack.add(new Value(
                        false,
                        null,
                        first != null && second != null ? new LinearComparison(first, second, true) : null));
            }
            case NOP -> {}
            default -> {
                String effect = StackEffects.of(opcode);
                if (effect == null) {
                    move(opcode);
                } else {
                    effect(effect);
                }
            }
        }
    }

    private static @Nullable LinearExpression product(
            @Nullable LinearExpression first, @Nullable LinearExpression second) {
        if (first == null || second == null || !(first.isConstant() || second.isConstant())) {
            return null;
        }
        LinearExpression factor = first.isConstant() ? first : second;
        LinearExpression other = first.isConstant() ? second : first;
        return other.times(factor.constant()).with(factor.ints());
    }

    private void move(Opcode opcode) {
        switch (opcode) {
            case POP -> one();
            case POP2 -> two();
            case SWAP -> {
                List<Value> top = one();
                List<Value> below = one();
                stack.addAll(top);
                stack.addAll(below);
            }
            case DUP -> duplicate(one(), List.of());
            case DUP_X1 -> duplicate(one(), one());
            case DUP_X2 -> duplicate(one(), two());
            case DUP2 -> duplicate(two(), List.of());
            case DUP2_X1 -> duplicate(two(), one());
            case DUP2_X2 -> duplicate(two(), two());
            default -> throw new IllegalStateException(opcode + " was not verified");
        }
    }

    private void duplicate(List<Value> top, List<Value> below) {
        stack.addAll(top);
        stack.addAll(below);
        stack.addAll(top);
    }

    private List<Value> one() {
        return List.of(stack.removeLast());
    }

    private List<Value> two() {
        Value top = stack.removeLast();
        return top.wide ? List.of(top) : Arrays.asList(stack.removeLast(), top);
    }
}
