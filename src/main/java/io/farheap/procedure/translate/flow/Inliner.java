package io.farheap.procedure.translate.flow;

import io.farheap.procedure.translate.instruction.Op;
import io.farheap.procedure.translate.instruction.RefusalMessages;
import io.farheap.procedure.translate.instruction.Type;
import io.farheap.procedure.translate.reading.ProcedureClass;
import io.farheap.procedure.translate.reading.UserMethod;
import java.lang.classfile.Opcode;
import java.util.ArrayList;
import java.util.List;

/**
 * Inlines the class's own methods at their calls, so that one list of instructions remains. A method's local variables
 * follow its caller's, so two methods that do not call each other share the same words.
 */
public final class Inliner {

    private static final int DEEPEST = 64;
    private static final int MOST_LOCALS = 256;

    private final RefusalMessages refusal;
    private final List<UserMethod> methods;
    private final int most;
    private final boolean[] active;
    private final List<Op> flat = new ArrayList<>();
    private int locals;

    /**
     * A procedure without calls of its own methods.
     *
     * @param locals words of local variables
     */
    public record FlatCode(List<Op> ops, int locals) {}

    private Inliner(RefusalMessages refusal, List<UserMethod> methods, int most) {
        this.refusal = refusal;
        this.methods = methods;
        this.most = most;
        this.active = new boolean[methods.size()];
    }

    /**
     * Inlines all methods that {@code run} calls.
     *
     * @param most instructions; counted while they are added, since a chain of methods that each call the next twice
     *     doubles the code at each link
     */
    public static FlatCode inline(RefusalMessages refusal, ProcedureClass procedure, int most) {
        Inliner inliner = new Inliner(refusal, procedure.methods(), most);
        inliner.expand(procedure.run(), 0, 0);
        return new FlatCode(inliner.flat, inliner.locals);
    }

    private void expand(int index, int base, int depth) {
        UserMethod method = methods.get(index);
        active[index] = true;
        locals = Math.max(locals, base + method.locals());
        if (locals > MOST_LOCALS) {
            throw refusal.of(
                    method.name(),
                    "with the methods that call it, it has " + locals + " words of local variables; at most "
                            + MOST_LOCALS);
        }
        List<Op> ops = method.ops();
        int[] places = new int[ops.size()];
        int start = flat.size();
        List<Integer> branches = new ArrayList<>();
        List<Integer> returns = new ArrayList<>();
        for (int i = 0; i < ops.size(); i++) {
            places[i] = flat.size();
            switch (ops.get(i)) {
                case Op.UserMethodCall own -> call(own, base + method.locals(), depth);
                case Op.Load load -> add(new Op.Load(load.type(), base + load.slot(), load.line()));
                case Op.Store store -> add(new Op.Store(store.type(), base + store.slot(), store.line()));
                case Op.Increment by -> add(new Op.Increment(base + by.slot(), by.by(), by.line()));
                case Op.Return op -> {
                    method.narrowing().forEach(opcode -> add(narrow(opcode, op.line())));
                    if (depth == 0) {
                        add(op);
                    } else if (i + 1 < ops.size()) {
                        returns.add(flat.size());
                        add(op);
                    }
                }
                case Op op -> {
                    if (op instanceof Op.Jump || op instanceof Op.Select) {
                        branches.add(flat.size());
                    }
                    add(op);
                }
            }
        }
        branches.forEach(at -> flat.set(at, moved(flat.get(at), places)));
        int end = flat.size();
        returns.forEach(
                at -> flat.set(at, new Op.Jump(Opcode.GOTO, end, flat.get(at).line())));
        if (depth > 0 && end == start) {
            add(new Op.Plain(Opcode.NOP, ops.getFirst().line()));
        }
        active[index] = false;
    }

    private static Op narrow(Opcode opcode, int line) {
        return opcode == Opcode.ICONST_1 ? new Op.Push(Type.INT, 1, line) : new Op.Plain(opcode, line);
    }

    private void call(Op.UserMethodCall own, int base, int depth) {
        UserMethod callee = methods.get(own.method());
        if (active[own.method()]) {
            throw refusal.at(own.line(), "a call of " + callee.name(), "recursion is not in the subset");
        }
        if (depth == DEEPEST) {
            throw refusal.at(
                    own.line(), "a call of " + callee.name(), "calls are nested more than " + DEEPEST + " deep");
        }
        int slot = base;
        for (Type parameter : callee.parameters()) {
            slot += parameter.words();
        }
        for (int i = callee.parameters().size() - 1; i >= 0; i--) {
            Type parameter = callee.parameters().get(i);
            slot -= parameter.words();
            add(new Op.Store(parameter, slot, own.line()));
        }
        expand(own.method(), base, depth + 1);
    }

    private void add(Op op) {
        if (flat.size() >= most) {
            throw refusal.at(
                    op.line(),
                    TypeFlow.describe(op),
                    "with its methods in the place of their calls, " + "the procedure has more than " + most
                            + " instructions and would be too large when translated");
        }
        flat.add(op);
    }

    private static Op moved(Op op, int[] places) {
        if (op instanceof Op.Jump jump) {
            return new Op.Jump(jump.opcode(), places[jump.target()], jump.line());
        }
        if (!(op instanceof Op.Select select)) {
            return op;
        }
        int[] targets = new int[select.targets().length];
        for (int i = 0; i < targets.length; i++) {
            targets[i] = places[select.targets()[i]];
        }
        return new Op.Select(select.table(), select.keys(), targets, select.line());
    }
}
