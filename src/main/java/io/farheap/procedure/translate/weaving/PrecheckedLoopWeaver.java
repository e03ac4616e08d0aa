package io.farheap.procedure.translate.weaving;

import static io.farheap.procedure.translate.weaving.CallWeaver.ADDRESS_SLOT;
import static io.farheap.procedure.translate.weaving.CallWeaver.BASE_SLOT;
import static io.farheap.procedure.translate.weaving.CallWeaver.FIRST_SLOT;
import static io.farheap.procedure.translate.weaving.CallWeaver.FRAME;
import static io.farheap.procedure.translate.weaving.CallWeaver.FRAME_SLOT;
import static io.farheap.procedure.translate.weaving.CallWeaver.FUEL_SLOT;
import static io.farheap.procedure.translate.weaving.CallWeaver.INT_SLOT;
import static io.farheap.procedure.translate.weaving.CallWeaver.MASK_SLOT;
import static io.farheap.procedure.translate.weaving.CallWeaver.PROCEDURE;
import static io.farheap.procedure.translate.weaving.CallWeaver.TRY_SLOT;
import static io.farheap.procedure.translate.weaving.CallWeaver.TURNS_SLOT;
import static io.farheap.procedure.translate.weaving.CallWeaver.TURN_SLOT;
import static io.farheap.procedure.translate.weaving.CallWeaver.WINDOW_BYTES_SLOT;
import static io.farheap.procedure.translate.weaving.CallWeaver.WINDOW_SLOT;

import io.farheap.procedure.translate.flow.LinearExpression;
import io.farheap.procedure.translate.flow.LoopConditions;
import io.farheap.procedure.translate.flow.PrecheckedLoop;
import io.farheap.procedure.translate.instruction.Op;
import io.farheap.procedure.translate.instruction.StackEffects;
import io.farheap.procedure.translate.instruction.Type;
import io.farheap.procedure.translate.running.CallFrame;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.StackInstruction;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Writes the counted turns of a {@link PrecheckedLoop}: the attempt at the loop's head in the usual code, and a method
 * of its own that runs the turns.
 *
 * <p>The attempt computes how many turns fuel and window allow ({@link #attempt}). If they are enough, it keeps the
 * live variables in the frame and calls the method with that count. The method has the loop's instructions without
 * comparisons of fuel and window, and so without a place to leave; addresses are masked as in the usual code. Its latch
 * counts the turns and ends the loop when the count is reached, so the call of the method takes at most the fuel that
 * was left, and HotSpot knows how to unroll the loop. When the turns are done, or the procedure leaves the loop, the
 * method subtracts the fuel of the turns that it ran, keeps the changed variables, and returns the number of the exit;
 * the usual code then continues there.
 *
 * <p>It is a separate method because C2, when the turns were part of the other loop, kept their sums and even the mask
 * in memory, which took twice as long.
 */
final class PrecheckedLoopWeaver {

    private static final MethodTypeDesc INTS =
            MethodTypeDesc.of(ConstantDescs.CD_int, ConstantDescs.CD_int, ConstantDescs.CD_int);
    private static final MethodTypeDesc LONGS =
            MethodTypeDesc.of(ConstantDescs.CD_long, ConstantDescs.CD_long, ConstantDescs.CD_long);

    /** Arguments: frame, turns, fuel. The result is an outcome if the call ended, or -1 minus the number of an exit. */
    static final MethodTypeDesc METHOD =
            MethodTypeDesc.of(ConstantDescs.CD_int, FRAME, ConstantDescs.CD_int, ConstantDescs.CD_int);

    /** HotSpot inlines no method of more than 325 bytes (FreqInlineSize); this many NOPs keep the turns out of line. */
    private static final int PADDING = 330;

    private static final MethodTypeDesc TURNS = MethodTypeDesc.of(
            ConstantDescs.CD_int,
            ConstantDescs.CD_long,
            ConstantDescs.CD_long,
            ConstantDescs.CD_long,
            ConstantDescs.CD_int);

    private final MethodWeaver weaver;
    private final LinkedProcedure program;
    private final PrecheckedLoop loop;
    private final CodeBuilder code;
    /** By block. */
    private final Label[] labels;

    private final Label latch;
    private final List<Runnable> exits = new ArrayList<>();
    private int block;

    PrecheckedLoopWeaver(MethodWeaver weaver, LinkedProcedure program, PrecheckedLoop loop, CodeBuilder code) {
        this.weaver = weaver;
        this.program = program;
        this.loop = loop;
        this.code = code;
        this.labels = new Label[program.flow.count()];
        this.latch = code.newLabel();
    }

    /** Writes code that postpones the next attempt until so much fuel has been used. */
    static void later(CodeBuilder code, int units) {
        code.iload(FUEL_SLOT)
                .loadConstant(units)
                .invokestatic(FRAME, "later", INTS)
                .istore(TRY_SLOT);
    }

    /**
     * Writes the attempt: counts the turns that fuel and conditions allow, and runs them; if they are too few, jumps to
     * the usual code.
     *
     * @param usual follows the comparisons at the head
     */
    void attempt(LinkedProcedure.Point head, Label usual) {
        long most = Objects.requireNonNull(program.flow.loop(loop.head())).fuel();
        code.iload(FUEL_SLOT)
                .loadConstant((int) Math.min(most, Integer.MAX_VALUE))
                .idiv()
                .loadConstant(CallFrame.MOST)
                .invokestatic(ClassDesc.of("java.lang.Math"), "min", INTS)
                .istore(TURNS_SLOT);
        for (LoopConditions.LoopBound room : loop.rooms()) {
            limit(room, head);
        }
        for (LoopConditions.Stride stride : loop.strides()) {
            limit(stride, head);
        }
        Label begin = code.newLabel();
        code.iload(TURNS_SLOT).loadConstant(CallFrame.LEAST).if_icmpge(begin);
        later(code, CallFrame.LATER);
        code.goto_(usual).labelBinding(begin);
        weaver.keepLocals(head.kept(), head.slots(), head.types());
        // The frame's window may be that of an atomic or a copy.
        keepWindow("window", WINDOW_SLOT);
        keepWindow("windowBytes", WINDOW_BYTES_SLOT);
        keepWindow("base", BASE_SLOT);
        code.aload(0)
                .aload(FRAME_SLOT)
                .iload(TURNS_SLOT)
                .iload(FUEL_SLOT)
                .invokevirtual(PROCEDURE, name(loop), METHOD)
                .istore(INT_SLOT);
        code.iload(FUEL_SLOT)
                .aload(FRAME_SLOT)
                .getfield(FRAME, "fuel", ConstantDescs.CD_int)
                .dup()
                .istore(FUEL_SLOT)
                .invokestatic(FRAME, "after", INTS)
                .istore(TRY_SLOT);
        goOn();
    }

    private void keepWindow(String field, int slot) {
        code.aload(FRAME_SLOT).lload(slot).putfield(FRAME, field, ConstantDescs.CD_long);
    }

    /** Writes the jump to the exit that the turns returned, or returns their outcome. */
    private void goOn() {
        Label otherwise = code.newLabel();
        List<SwitchCase> cases = new ArrayList<>();
        for (int i = 0; i < loop.exits().size(); i++) {
            cases.add(SwitchCase.of(-1 - i, code.newLabel()));
        }
        code.iload(INT_SLOT).lookupswitch(otherwise, cases);
        for (int i = 0; i < cases.size(); i++) {
            PrecheckedLoop.Exit exit = loop.exits().get(i);
            code.labelBinding(cases.get(i).target());
            weaver.fetchLocals(0, exit.slots(), exit.types());
            code.goto_(weaver.start(exit.target()));
        }
        code.labelBinding(otherwise).iload(INT_SLOT).ireturn();
    }

    static String name(PrecheckedLoop loop) {
        return "turns".concat(Integer.toString(loop.head()));
    }

    /** Writes the method that runs the turns. */
    void weaveTurns() {
        for (int i = 0; i < PADDING; i++) {
            code.nop();
        }
        LinkedProcedure.Point head = Objects.requireNonNull(program.head(program.flow.first(loop.head())));
        code.iload(INT_SLOT).istore(TURNS_SLOT).iconst_0().istore(TURN_SLOT);
        weaver.loadWindow();
        weaver.loadMask();
        weaver.fetchLocals(0, head.slots(), head.types());
        for (int i = 0; i < loop.strides().size(); i++) {
            stride(i, head);
        }
        weave();
    }

    private void limit(LoopConditions.LoopBound room, LinkedProcedure.Point head) {
        number(room.first(), head);
        if (room.range() == LoopConditions.Range.WINDOW) {
            code.lload(WINDOW_SLOT);
        } else {
            code.loadConstant(room.range().least);
        }
        code.lsub();
        number(room.step(), head);
        if (room.range() == LoopConditions.Range.WINDOW) {
            code.lload(WINDOW_BYTES_SLOT);
        } else {
            code.loadConstant(room.range().room);
        }
        code.iload(TURNS_SLOT).invokestatic(FRAME, "turns", TURNS).istore(TURNS_SLOT);
    }

    private void limit(LoopConditions.Stride stride, LinkedProcedure.Point head) {
        number(stride.first(), head);
        code.lload(WINDOW_SLOT)
                .lsub()
                .loadConstant(stride.step())
                .lload(WINDOW_BYTES_SLOT)
                .loadConstant(stride.extra())
                .lsub()
                .iload(TURNS_SLOT)
                .invokestatic(FRAME, "turns", TURNS);
        // The distance that the turns advance must also be less than half of the part.
        code.lload(MASK_SLOT)
                .iconst_1()
                .lushr()
                .loadConstant(stride.step())
                .ldiv()
                .l2i()
                .invokestatic(ClassDesc.of("java.lang.Math"), "min", INTS)
                .istore(TURNS_SLOT);
    }

    /**
     * Writes the setup of a stride in its three local variables: the native address at which the masked distance
     * starts, the mask of the distance, and the distance of the first access.
     */
    private void stride(int index, LinkedProcedure.Point head) {
        LoopConditions.Stride stride = loop.strides().get(index);
        int start = slot(index);
        int mask = start + 2;
        int behind = start + 4;
        number(stride.first(), head);
        code.lload(MASK_SLOT).land().lstore(start);
        // Bytes from the first access on at which accesses of 8 bytes are in the part.
        code.lload(MASK_SLOT)
                .loadConstant(-6 - stride.extra())
                .ladd()
                .lload(start)
                .lsub()
                .lstore(behind);
        code.lload(behind)
                .lload(MASK_SLOT)
                .lconst_1()
                .ladd()
                .invokestatic(FRAME, "stride", LONGS)
                .lstore(mask);
        code.lload(mask).lload(behind).invokestatic(FRAME, "behind", LONGS).lstore(behind);
        code.lload(BASE_SLOT)
                .lload(start)
                .ladd()
                .lload(behind)
                .lsub()
                .loadConstant(MethodWeaver.ADDRESS_BITS)
                .land()
                .lstore(start);
        code.lload(mask)
                .lconst_1()
                .lsub()
                .loadConstant(MethodWeaver.ADDRESS_BITS)
                .land()
                .lstore(mask);
    }

    private int slot(int stride) {
        return FIRST_SLOT + program.locals + 6 * stride;
    }

    /** Pushes the native address of an access whose cache address is in a local variable. */
    void place(int access) {
        LoopConditions.StridePosition place = loop.places().get(access);
        if (place == null) {
            code.lload(ADDRESS_SLOT).lload(MASK_SLOT).land().lload(BASE_SLOT).ladd();
            return;
        }
        int slot = slot(place.stride());
        code.iload(TURN_SLOT)
                .i2l()
                .loadConstant(loop.strides().get(place.stride()).step())
                .lmul()
                .lload(slot + 4)
                .ladd()
                .lload(slot + 2)
                .land()
                .lload(slot)
                .ladd();
        if (place.distance() != 0) {
            code.loadConstant(place.distance()).ladd();
        }
    }

    private void number(LinearExpression sum, LinkedProcedure.Point head) {
        code.loadConstant(sum.constant());
        sum.terms().forEach((slot, factor) -> {
            Type type = head.type(slot);
            code.loadLocal(type.kind, FIRST_SLOT + slot);
            if (type == Type.INT) {
                code.i2l();
            }
            if (factor != 1) {
                code.loadConstant(factor.longValue()).lmul();
            }
            code.ladd();
        });
    }

    private void weave() {
        int[] blocks = loop.blocks();
        for (int each : blocks) {
            labels[each] = code.newLabel();
        }
        for (int i = 0; i < blocks.length; i++) {
            block = blocks[i];
            code.labelBinding(labels[block]);
            if (!loop.always().get(block)) {
                weaver.charge(program.flow.fuel(block));
            }
            int first = program.flow.first(block);
            int last = program.flow.last(block);
            int next = last + 1;
            if (loop.sure().get(block) && program.ops.get(last) instanceof Op.Jump jump) {
                weaver.weave(this, first, last - 1);
                // The operands that the branch would have compared.
                code.with(StackInstruction.of(compares(jump.opcode()) == 2 ? Opcode.POP2 : Opcode.POP));
                next = stays(jump.target()) ? jump.target() : next;
            } else {
                weaver.weave(this, first, last);
                if (Op.ends(program.ops.get(last))) {
                    continue;
                }
            }
            boolean follows = i + 1 < blocks.length && blocks[i + 1] == program.flow.block(next);
            if (!follows) {
                code.goto_(label(next));
            }
        }
        code.labelBinding(latch);
        code.iinc(TURN_SLOT, 1).iload(TURN_SLOT).iload(TURNS_SLOT).if_icmplt(labels[loop.head()]);
        exit(0, program.flow.first(loop.head()));
        exits.forEach(Runnable::run);
    }

    private static int compares(Opcode opcode) {
        return Objects.requireNonNull(StackEffects.of(opcode)).indexOf('>');
    }

    private boolean stays(int index) {
        return labels[program.flow.block(index)] != null;
    }

    /** The label of an instruction to which the current block leads: the latch, a block of the turns, or an exit. */
    Label label(int index) {
        int target = program.flow.block(index);
        if (target == loop.head()) {
            return latch;
        }
        if (stays(index)) {
            return labels[target];
        }
        Label exit = code.newLabel();
        int taken = loop.charged()[block];
        exits.add(() -> {
            code.labelBinding(exit);
            exit(taken, index);
        });
        return exit;
    }

    private void exit(int taken, int target) {
        settle(taken);
        code.aload(FRAME_SLOT).iload(FUEL_SLOT).putfield(FRAME, "fuel", ConstantDescs.CD_int);
        int number = 0;
        while (loop.exits().get(number).target() != target) {
            number++;
        }
        PrecheckedLoop.Exit exit = loop.exits().get(number);
        weaver.keepLocals(exit.slots().size(), exit.slots(), exit.types());
        code.loadConstant(-1 - number).ireturn();
    }

    /**
     * Writes code that subtracts the fuel of the turns so far, before the procedure ends in the middle of the block.
     */
    void settle() {
        settle(loop.charged()[block]);
    }

    private void settle(int taken) {
        code.iload(FUEL_SLOT)
                .iload(TURN_SLOT)
                .loadConstant(loop.perTurn(program.flow))
                .imul()
                .isub()
                .loadConstant(taken)
                .isub()
                .istore(FUEL_SLOT);
    }
}
