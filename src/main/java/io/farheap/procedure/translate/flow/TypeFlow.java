package io.farheap.procedure.translate.flow;

import io.farheap.procedure.translate.instruction.Op;
import io.farheap.procedure.translate.instruction.Operands;
import io.farheap.procedure.translate.instruction.RefusalMessages;
import io.farheap.procedure.translate.instruction.StackEffects;
import io.farheap.procedure.translate.instruction.Type;
import io.farheap.procedure.translate.reading.UserMethod;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The types of local variables and operands before each instruction, on all paths to it: a data-flow analysis to the
 * greatest fixed point, like the JVM's old verifier (JVMS 4.10.2). It uses no statement of the class about itself
 * (stack maps, stack depth).
 */
public final class TypeFlow {

    /** Most visits of a local variable or operand; a class that would need more is refused. */
    private static final long MOST_WORK = 20_000_000;

    private final RefusalMessages refusal;
    private final List<Op> ops;
    private final IntFunction<UserMethod> methods;
    private final @Nullable Type result;
    private final @Nullable Operands[] before;
    private final ArrayDeque<Integer> due = new ArrayDeque<>();
    private final boolean[] queued;
    private long work;

    private TypeFlow(RefusalMessages refusal, List<Op> ops, IntFunction<UserMethod> methods, @Nullable Type result) {
        this.refusal = refusal;
        this.ops = ops;
        this.methods = methods;
        this.result = result;
        this.before = new Operands[ops.size()];
        this.queued = new boolean[ops.size()];
    }

    /**
     * Verifies a method.
     *
     * @param parameters types of the first local variables
     * @param methods the class's own methods, by index
     * @return types by instruction; null if the instruction cannot be reached
     */
    public static @Nullable Operands[] of(
            RefusalMessages refusal,
            List<Op> ops,
            List<Type> parameters,
            int locals,
            @Nullable Type result,
            IntFunction<UserMethod> methods) {
        TypeFlow flow = new TypeFlow(refusal, ops, methods, result);
        Operands start = new Operands(locals);
        int slot = 0;
        if (ops.isEmpty()) {
            throw refusal.of("a method has no instructions");
        }
        try {
            for (Type parameter : parameters) {
                start.set(parameter, slot);
                slot += parameter.words();
            }
        } catch (Operands.Mismatch e) {
            throw refusal.at(ops.getFirst().line(), "the method's start", String.valueOf(e.getMessage()));
        }
        flow.reach(0, start);
        flow.run();
        return flow.before;
    }

    private void run() {
        for (Integer next = due.poll(); next != null; next = due.poll()) {
            queued[next] = false;
            step(next);
        }
    }

    private void step(int index) {
        Op op = ops.get(index);
        try {
            Operands state = java.util.Objects.requireNonNull(before[index]).copy();
            apply(op, state);
            for (int target : Op.targets(op)) {
                reach(target, state);
            }
            if (!Op.ends(op)) {
                if (index + 1 == ops.size()) {
                    throw new Operands.Mismatch("the method ends without a return");
                }
                reach(index + 1, state);
            }
        } catch (Operands.Mismatch e) {
            throw refusal.at(op.line(), describe(op), String.valueOf(e.getMessage()));
        }
    }

    private void reach(int index, Operands state) {
        Operands there = before[index];
        boolean changed = true;
        if (there == null) {
            before[index] = state.copy();
        } else {
            changed = there.join(state);
        }
        work += state.locals.length + state.depth() + 1;
        if (work > MOST_WORK) {
            throw new Operands.Mismatch("the method's ways are too many to verify");
        }
        if (changed && !queued[index]) {
            queued[index] = true;
            due.add(index);
        }
    }

    private void apply(Op op, Operands state) {
        switch (op) {
            case Op.Plain plain -> {
                String effect = StackEffects.of(plain.opcode());
                if (effect == null) {
                    state.move(plain.opcode());
                } else {
                    state.apply(effect);
                }
            }
            case Op.Push push -> state.push(push.type());
            case Op.Load load -> state.load(load.type(), load.slot());
            case Op.Store store -> state.store(store.type(), store.slot());
            case Op.Increment increment -> state.require(Type.INT, increment.slot());
            case Op.Jump jump -> state.apply(java.util.Objects.requireNonNull(StackEffects.of(jump.opcode())));
            case Op.Select _ -> state.pop(Type.INT);
            case Op.ApiCall on -> state.apply(on.method().effect);
            case Op.PureMethodCall pure -> state.apply(pure.method().effect());
            case Op.UserMethodCall own ->
                state.apply(methods.apply(own.method()).effect());
            case Op.Return returns -> {
                if (returns.type() != result) {
                    throw new Operands.Mismatch("it does not fit the method's type");
                }
                if (result != null) {
                    state.pop(result);
                }
                // javac leaves no operands at a return, and an inlined method must not leave any.
                if (state.depth() != 0) {
                    throw new Operands.Mismatch("operands are left over");
                }
            }
        }
    }

    /** The instruction as refusals name it. */
    public static String describe(Op op) {
        return switch (op) {
            case Op.Plain plain -> plain.opcode().name().toLowerCase(java.util.Locale.ROOT);
            case Op.Push _ -> "a constant";
            case Op.Load load -> "a load of local variable " + load.slot();
            case Op.Store store -> "a store to local variable " + store.slot();
            case Op.Increment increment -> "iinc of local variable " + increment.slot();
            case Op.Jump jump -> jump.opcode().name().toLowerCase(java.util.Locale.ROOT);
            case Op.Select _ -> "a switch";
            case Op.ApiCall on -> "Call." + on.method().name;
            case Op.PureMethodCall pure ->
                pure.method().owner().displayName() + '.' + pure.method().name();
            case Op.UserMethodCall _ -> "a call of an own method";
            case Op.Return _ -> "return";
        };
    }
}
