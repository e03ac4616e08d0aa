package io.farheap.procedure.translate.instruction;

import io.farheap.procedure.translate.running.Stage;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.instruction.SwitchCase;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

/** Writes one method's statements. Each loop counts its turns in a variable of its own, so it ends. */
final class MethodGenerator extends ExpressionGenerator {

    private static final int[] STEPS = {1, 2, 4, 8, 8, 8, 16, 16, 24, 40, -8, -16, 0};
    /** Numbers at which ints and longs wrap: near them a sum of 64 bits must not be taken for one of ints. */
    private static final long[] EDGES = {
        1L << 31, 1L << 32, Long.MIN_VALUE, -1L << 31, -1L << 32, 3L << 32, (1L << 33) + (1L << 31), 1L << 62
    };

    private static final int MOST_DEPTH = 3;

    private int depth;
    /** The number of loops around the current statement. */
    private int loops;
    /** The next turn of the innermost loop; {@link #end} is behind it. */
    private Label next;

    private Label end;

    MethodGenerator(Random random, CodeBuilder code, List<ClassGenerator.Own> own, List<Type> parameters) {
        super(random, code, own, parameters);
        this.next = code.newLabel();
        this.end = next;
    }

    void body(Type result, int statements) {
        for (Type type : ClassGenerator.TYPES) {
            for (int i = 0; i < 2; i++) {
                constant(type);
                store(type, allocate(type));
            }
        }
        statements(statements);
        expression(result, 2);
        code.return_(result.kind);
    }

    private void statements(int count) {
        for (int i = 0; i < count; i++) {
            statement();
        }
    }

    private void statement() {
        depth++;
        int kind = random.nextInt(depth > MOST_DEPTH ? 10 : 17);
        switch (kind) {
            case 0, 1, 2, 3 -> assign();
            case 4, 5 -> put();
            case 6 -> local();
            case 7 -> code.iinc(any(Type.INT), random.nextInt(200) - 100);
            case 8 -> leave();
            case 9 -> atomic();
            case 10 -> branch();
            case 11 -> select();
            case 12 -> copy();
            default -> {
                if (loops < 2) {
                    loop();
                } else {
                    assign();
                }
            }
        }
        depth--;
    }

    private void assign() {
        Type type = ClassGenerator.TYPES.get(random.nextInt(4));
        expression(type, 2);
        store(type, any(type));
    }

    private void put() {
        CallMethod method = List.of(CallMethod.PUT_BYTE, CallMethod.PUT_SHORT, CallMethod.PUT_INT, CallMethod.PUT_LONG)
                .get(random.nextInt(4));
        code.aload(0);
        address(method.bytes);
        expression(method.bytes == 8 ? Type.LONG : Type.INT, 2);
        narrow(method.bytes);
        invoke(method);
    }

    private void narrow(int bytes) {
        if (bytes == 1) {
            code.i2b();
        } else if (bytes == 2) {
            code.i2s();
        }
    }

    /** Writes to scratch memory or the result. */
    private void local() {
        CallMethod method = List.of(
                        CallMethod.SET_SCRATCH,
                        CallMethod.SET_SCRATCH_INT,
                        CallMethod.SET_SCRATCH_BYTE,
                        CallMethod.RESULT,
                        CallMethod.RESULT_INT,
                        CallMethod.RESULT_BYTE)
                .get(random.nextInt(6));
        code.aload(0);
        place();
        expression(method.bytes == 8 ? Type.LONG : Type.INT, 2);
        narrow(method.bytes == 8 ? 8 : method.bytes);
        invoke(method);
    }

    /** Breaks out of the innermost loop, or continues it, now and then. */
    private void leave() {
        if (loops == 0) {
            assign();
            return;
        }
        Label stays = code.newLabel();
        condition(stays);
        code.goto_(random.nextBoolean() ? next : end);
        code.labelBinding(stays);
    }

    /** A condition, and a jump to the label if it does not hold. */
    private void condition(Label otherwise) {
        switch (random.nextInt(4)) {
            case 0 -> {
                expression(Type.INT, 2);
                code.loadConstant(7).iand().ifne(otherwise);
            }
            case 1 -> {
                expression(Type.INT, 2);
                expression(Type.INT, 1);
                code.if_icmplt(otherwise);
            }
            case 2 -> {
                expression(Type.LONG, 2);
                expression(Type.LONG, 1);
                code.lcmp().ifge(otherwise);
            }
            default -> {
                expression(Type.DOUBLE, 2);
                expression(Type.DOUBLE, 1);
                code.dcmpg().ifle(otherwise);
            }
        }
    }

    private void branch() {
        Label otherwise = code.newLabel();
        Label behind = code.newLabel();
        condition(otherwise);
        statements(1 + random.nextInt(2));
        code.goto_(behind).labelBinding(otherwise);
        statements(random.nextInt(2));
        code.labelBinding(behind);
    }

    private void select() {
        TreeSet<Integer> keys = new TreeSet<>();
        boolean table = random.nextBoolean();
        for (int i = 0; i < 3; i++) {
            keys.add(table ? i : random.nextInt());
        }
        List<SwitchCase> cases = new ArrayList<>();
        keys.forEach(key -> cases.add(SwitchCase.of(key, code.newLabel())));
        Label otherwise = code.newLabel();
        expression(Type.INT, 1);
        if (table) {
            code.iconst_3().iand().tableswitch(0, 2, otherwise, cases);
        } else {
            code.lookupswitch(otherwise, cases);
        }
        // Each falls through to the next.
        for (SwitchCase one : cases) {
            code.labelBinding(one.target());
            statement();
        }
        code.labelBinding(otherwise);
    }

    private void atomic() {
        switch (random.nextInt(3)) {
            case 0 -> {
                code.aload(0);
                address(8);
                expression(Type.LONG, 1);
                invoke(CallMethod.GET_AND_ADD);
                store(Type.LONG, any(Type.LONG));
            }
            case 1 -> {
                code.aload(0);
                address(8);
                expression(Type.LONG, 1);
                expression(Type.LONG, 1);
                invoke(CallMethod.COMPARE_AND_SET);
                store(Type.INT, any(Type.INT));
            }
            default -> {
                // A word that is compared with itself.
                code.aload(0).loadConstant(8 * random.nextInt(8));
                code.loadConstant(8L * random.nextInt(512));
                invoke(CallMethod.SET_SCRATCH);
                code.aload(0).loadConstant(8 * random.nextInt(8)).iconst_1();
                invoke(CallMethod.COMPARE_AND_SET_ALL);
                store(Type.INT, any(Type.INT));
            }
        }
    }

    private void copy() {
        int bytes = random.nextInt(65);
        int at = random.nextInt(4000);
        long address = random.nextInt((int) Stage.CACHE_BYTES) & -128;
        code.aload(0);
        switch (random.nextInt(3)) {
            case 0 -> {
                code.loadConstant(address).loadConstant(at).loadConstant(bytes);
                invoke(CallMethod.COPY_TO_SCRATCH);
            }
            case 1 -> {
                code.loadConstant(at).loadConstant(address).loadConstant(bytes);
                invoke(CallMethod.COPY_FROM_SCRATCH);
            }
            default -> {
                code.loadConstant(at).loadConstant(random.nextInt(2000)).loadConstant(bytes);
                invoke(CallMethod.RESULT_FROM_SCRATCH);
            }
        }
    }

    /** A loop over addresses that advance, in one of the usual forms. */
    private void loop() {
        Label outerNext = next;
        Label outerEnd = end;
        next = code.newLabel();
        end = code.newLabel();
        loops++;
        int turns = random.nextInt(loops == 1 ? 90 : 12);
        int step = STEPS[random.nextInt(STEPS.length)];
        Loop loop = begin(turns, step);
        Label head = code.newLabel();
        boolean below = random.nextBoolean();
        code.labelBinding(head);
        if (!below) {
            test(loop, end, null);
        }
        statements(1 + random.nextInt(3));
        code.labelBinding(next);
        advance(loop, step);
        if (below) {
            test(loop, end, head);
        } else {
            code.goto_(head);
        }
        code.labelBinding(end);
        forget(loop);
        loops--;
        next = outerNext;
        end = outerEnd;
    }

    /**
     * A loop and its local variables, to which no statement assigns.
     *
     * @param counter the counter's slot, the first slot of the loop
     * @param limit the variable at whose value the counter ends
     * @param last the variable at whose value the address ends
     * @param odd an int that begins near an edge, and advances as the address does; 0 if the loop has no such variables
     * @param wide a long that does the same
     * @param bound a long near an edge
     * @param oddFirst the first value of {@code odd}
     * @param wideFirst the first value of {@code wide}
     * @param first the first address
     */
    record Loop(
            int form,
            int counter,
            int limit,
            int address,
            int last,
            int odd,
            int wide,
            int bound,
            int oddFirst,
            long wideFirst,
            long first) {

        boolean edges() {
            return wide != 0;
        }

        /** Whether {@code wide} does not change: cut to an int, it is the limit. */
        boolean cut() {
            return form == 5;
        }
    }

    private Loop begin(int turns, int step) {
        int first = 4096 * random.nextInt(4) + 8 * random.nextInt(400);
        int form = random.nextInt(9);
        int counter = reserve(Type.INT);
        int limit = reserve(Type.INT);
        int address = reserve(Type.LONG);
        int last = reserve(Type.LONG);
        boolean edges = form >= 5;
        int odd = edges ? reserve(Type.INT) : 0;
        int wide = edges ? reserve(Type.LONG) : 0;
        int bound = edges ? reserve(Type.LONG) : 0;
        int oddFirst = (int) near(turns, step);
        long wideFirst = form == 5 ? turns + ((random.nextInt(7) - 3L) << 32) : near(turns, step);
        code.loadConstant(form == 2 ? turns : 0).istore(counter);
        code.loadConstant(turns).istore(limit);
        code.loadConstant((long) first).lstore(address);
        code.loadConstant((long) first + (long) step * turns).lstore(last);
        if (edges) {
            code.loadConstant(oddFirst).istore(odd);
            code.loadConstant(wideFirst).lstore(wide);
            code.loadConstant(random.nextBoolean() ? wideFirst + (long) step * turns : near(turns, step))
                    .lstore(bound);
        }
        Loop loop = new Loop(form, counter, limit, address, last, odd, wide, bound, oddFirst, wideFirst, first);
        addresses(loop);
        return loop;
    }

    /** A first value from which a variable reaches an edge after some turns, at once, or not at all. */
    private long near(int turns, int step) {
        return EDGES[random.nextInt(EDGES.length)] - (long) step * random.nextInt(turns + 2) + random.nextInt(3) - 1;
    }

    /** While there are turns left, continues at the head if there is one, else with the code that follows. */
    private void test(Loop loop, Label out, Label head) {
        switch (loop.form) {
            case 0 -> {
                code.iload(loop.counter).iload(loop.limit);
                if (head == null) {
                    code.if_icmpge(out);
                } else {
                    code.if_icmplt(head);
                }
            }
            case 1 -> {
                code.iload(loop.limit).iload(loop.counter);
                if (head == null) {
                    code.if_icmple(out);
                } else {
                    code.if_icmpgt(head);
                }
            }
            case 2 -> {
                code.iload(loop.counter);
                if (head == null) {
                    code.ifle(out);
                } else {
                    code.ifgt(head);
                }
            }
            case 5 -> {
                code.iload(loop.counter).lload(loop.wide).l2i();
                if (head == null) {
                    code.if_icmpge(out);
                } else {
                    code.if_icmplt(head);
                }
            }
            default -> {
                code.iload(loop.counter).iload(loop.limit).if_icmpge(out);
                second(loop, out, head);
            }
        }
    }

    /** Tests the loop's second bound. */
    private void second(Loop loop, Label out, Label head) {
        switch (loop.form) {
            case 6 -> code.lload(loop.wide).lload(loop.bound).lcmp();
            case 7 -> code.iload(loop.odd).i2l().lload(loop.bound).lcmp();
            case 8 -> {
                code.lload(loop.wide).l2i().lload(loop.bound).l2i();
                if (head == null) {
                    code.if_icmpge(out);
                } else {
                    code.if_icmplt(head);
                }
                return;
            }
            default -> code.lload(loop.address).lload(loop.last).lcmp();
        }
        if (head == null) {
            code.ifge(out);
        } else {
            code.iflt(head);
        }
    }

    private void advance(Loop loop, int step) {
        code.iinc(loop.counter, loop.form == 2 ? -1 : 1);
        code.lload(loop.address).loadConstant((long) step).ladd().lstore(loop.address);
        if (loop.edges()) {
            code.iinc(loop.odd, step);
            if (!loop.cut()) {
                code.lload(loop.wide).loadConstant((long) step).ladd().lstore(loop.wide);
            }
        }
    }
}
