package io.farheap.procedure.translate.weaving;

import io.farheap.procedure.translate.flow.PrecheckedLoop;
import io.farheap.procedure.translate.instruction.Op;
import io.farheap.procedure.translate.instruction.StackEffects;
import io.farheap.procedure.translate.instruction.Type;
import io.farheap.procedure.translate.running.CallFrame;
import io.farheap.procedure.translate.running.ResumeSlots;
import io.farheap.procedure.translate.running.TranslatedCode;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ConvertInstruction;
import java.lang.classfile.instruction.OperatorInstruction;
import java.lang.classfile.instruction.StackInstruction;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes one of the two methods of translated code. Both contain all instructions of the procedure and differ in where
 * they can begin. A loop that can also be entered in its middle is irreducible, and HotSpot optimises such loops badly.
 * So {@link TranslatedCode#fast} is entered only at the start and at heads of outermost loops, and its loops stay
 * reducible; {@link TranslatedCode#step} is entered at any resume point, but continues only to the next such head.
 */
final class MethodWeaver extends CallWeaver {

    private static final ClassDesc SLOTS = ResumeSlots.class.describeConstable().orElseThrow();
    static final long ADDRESS_BITS = 0xffff_ffff_ffffL;
    private static final int MOST_CHARGED = 30_000;
    private static final MethodTypeDesc LEAVE =
            MethodTypeDesc.of(ConstantDescs.CD_int, FRAME, ConstantDescs.CD_int, ConstantDescs.CD_int);

    private final LinkedProcedure program;
    private final Label[] labels;
    /** Where each point resumes, by its number. */
    private final Label[] resumed;

    /** Code that is seldom run; written after the rest. */
    private final List<Runnable> behind = new ArrayList<>();

    /** Whether loops are written with counted turns. */
    private final boolean ahead;
    /** The counted turns that are being written; null while the usual code is written. */
    private @Nullable PrecheckedLoopWeaver turns;
    /** Index of the instruction that is being written. */
    private int at;

    MethodWeaver(LinkedProcedure program, boolean stepping, boolean ahead, CodeBuilder code) {
        super(code, stepping);
        this.program = program;
        this.ahead = ahead && !program.ahead.isEmpty();
        this.labels = new Label[program.ops.size()];
        this.resumed = new Label[program.points.size() + 1];
        for (int block = 0; block < program.flow.count(); block++) {
            labels[program.flow.first(block)] = code.newLabel();
        }
        for (int i = 0; i < resumed.length; i++) {
            resumed[i] = code.newLabel();
        }
    }

    void weave() {
        code.aload(FRAME_SLOT).getfield(FRAME, "fuel", ConstantDescs.CD_int).istore(FUEL_SLOT);
        loadWindow();
        loadMask();
        if (ahead) {
            PrecheckedLoopWeaver.later(code, CallFrame.SOON);
        }
        dispatch();
        code.aload(FRAME_SLOT).astore(FIRST_SLOT);
        for (int block = 0; block < program.flow.count(); block++) {
            block(block);
        }
        for (int i = 0; i < behind.size(); i++) {
            behind.get(i).run();
        }
    }

    /**
     * Masks the loaded values with constants, which tells HotSpot the range of the sum of base and masked address: it
     * then drops its check of the native address against the end of all memory, and folds the sum into the load.
     */
    void loadMask() {
        code.aload(FRAME_SLOT)
                .getfield(FRAME, "partMask", ConstantDescs.CD_int)
                .loadConstant(CallFrame.MOST_PART - 1)
                .iand()
                .i2l()
                .lstore(MASK_SLOT);
    }

    @Override
    void loadWindow() {
        loadWindow("window", WINDOW_SLOT);
        loadWindow("windowBytes", WINDOW_BYTES_SLOT);
        code.aload(FRAME_SLOT).getfield(FRAME, "base", ConstantDescs.CD_long);
        code.loadConstant(ADDRESS_BITS).land().lstore(BASE_SLOT);
    }

    private void loadWindow(String field, int slot) {
        code.aload(FRAME_SLOT).getfield(FRAME, field, ConstantDescs.CD_long).lstore(slot);
    }

    private void dispatch() {
        Label start = code.newLabel();
        List<SwitchCase> cases = new ArrayList<>();
        for (LinkedProcedure.Point point : program.points) {
            if (stepping || point.fast()) {
                Label restore = code.newLabel();
                cases.add(SwitchCase.of(point.number(), restore));
                behind(() -> {
                    code.labelBinding(restore);
                    restore(point);
                });
            }
        }
        if (!cases.isEmpty()) {
            code.iload(INT_SLOT);
            if (stepping) {
                code.tableswitch(1, cases.size(), start, cases);
            } else {
                code.lookupswitch(start, cases);
            }
        }
        code.labelBinding(start);
    }

    @Override
    void behind(Runnable weaving) {
        behind.add(weaving);
    }

    private void block(int block) {
        int first = program.flow.first(block);
        int last = program.flow.last(block);
        code.labelBinding(labels[first]);
        LinkedProcedure.Point head = program.head(first);
        if (head != null) {
            head(head, first);
        }
        for (int i = first; i <= last; i++) {
            LinkedProcedure.Point check = program.check(i);
            if (check != null) {
                compare(check);
            }
            if (check != null || i == first) {
                charge(program.fuel(i, block));
            }
            op(i);
        }
    }

    private void compare(LinkedProcedure.Point point) {
        Label leave = code.newLabel();
        code.iload(FUEL_SLOT).iflt(leave);
        code.labelBinding(resumed[point.number()]);
        behind(() -> {
            code.labelBinding(leave);
            leave(point);
        });
    }

    void charge(int units) {
        for (int fuel = units; fuel > 0; fuel -= MOST_CHARGED) {
            code.iinc(FUEL_SLOT, -Math.min(fuel, MOST_CHARGED));
        }
    }

    private void head(LinkedProcedure.Point point, int first) {
        Label leave = code.newLabel();
        PrecheckedLoop checked = ahead ? program.ahead(first) : null;
        if (checked != null) {
            Label attempt = code.newLabel();
            code.iload(FUEL_SLOT).iload(TRY_SLOT).if_icmplt(attempt);
            behind(() -> {
                code.labelBinding(attempt).iload(FUEL_SLOT).iflt(leave);
                new PrecheckedLoopWeaver(this, program, checked, code).attempt(point, resumed[point.number()]);
            });
        } else if (stepping && point.fast()) {
            code.aload(FRAME_SLOT)
                    .iload(FUEL_SLOT)
                    .invokestatic(
                            FRAME, "stays", MethodTypeDesc.of(ConstantDescs.CD_boolean, FRAME, ConstantDescs.CD_int))
                    .ifeq(leave);
        } else {
            code.iload(FUEL_SLOT).iflt(leave);
        }
        code.labelBinding(resumed[point.number()]);
        behind(() -> {
            code.labelBinding(leave);
            leave(point);
        });
    }

    private void op(int index) {
        at = index;
        switch (program.ops.get(index)) {
            case Op.Plain plain -> plain(plain);
            case Op.Push push -> code.loadConstant(push.value());
            case Op.Load load -> code.loadLocal(load.type().kind, FIRST_SLOT + load.slot());
            case Op.Store store -> code.storeLocal(store.type().kind, FIRST_SLOT + store.slot());
            case Op.Increment increment -> code.iinc(FIRST_SLOT + increment.slot(), increment.by());
            case Op.Jump jump -> {
                Opcode opcode = jump.opcode() == Opcode.GOTO_W ? Opcode.GOTO : jump.opcode();
                code.with(BranchInstruction.of(opcode, label(jump.target())));
            }
            case Op.Select select -> select(select);
            case Op.ApiCall on -> call(index, on);
            case Op.PureMethodCall pure -> {
                if (pure.method().divisor() != null) {
                    checkDivisor(pure.method().divisor(), pure.line());
                }
                code.invokestatic(
                        pure.method().owner(),
                        pure.method().name(),
                        pure.method().type());
            }
            case Op.UserMethodCall own ->
                throw new IllegalStateException("line " + own.line() + ": a call was not inlined");
            case Op.Return _ ->
                code.aload(FRAME_SLOT)
                        .iload(FUEL_SLOT)
                        .invokestatic(
                                FRAME,
                                "finish",
                                MethodTypeDesc.of(
                                        ConstantDescs.CD_int, ConstantDescs.CD_int, FRAME, ConstantDescs.CD_int))
                        .ireturn();
        }
    }

    private void plain(Op.Plain plain) {
        Opcode opcode = plain.opcode();
        if (StackEffects.divides(opcode)) {
            checkDivisor(opcode == Opcode.IDIV || opcode == Opcode.IREM ? Type.INT : Type.LONG, plain.line());
        }
        switch (opcode.kind()) {
            case STACK -> code.with(StackInstruction.of(opcode));
            case CONVERT -> code.with(ConvertInstruction.of(opcode));
            case NOP -> code.nop();
            default -> code.with(OperatorInstruction.of(opcode));
        }
    }

    private void checkDivisor(Type type, int line) {
        Label divides = code.newLabel();
        if (type.wide()) {
            code.dup2().lconst_0().lcmp().ifne(divides);
        } else {
            code.dup().ifne(divides);
        }
        end("fault", line);
        code.labelBinding(divides);
    }

    /** Returns; operands that are left on the stack go with the method's frame. */
    @Override
    void end(String how, int line) {
        if (turns != null) {
            turns.settle();
        }
        code.aload(FRAME_SLOT)
                .iload(FUEL_SLOT)
                .loadConstant(line)
                .invokestatic(FRAME, how, LEAVE)
                .ireturn();
    }

    private void select(Op.Select select) {
        int[] keys = select.keys();
        List<SwitchCase> cases = new ArrayList<>();
        for (int i = 0; i < keys.length; i++) {
            cases.add(SwitchCase.of(keys[i], label(select.targets()[i])));
        }
        Label otherwise = label(select.targets()[keys.length]);
        if (select.table() && keys.length > 0) {
            code.tableswitch(keys[0], keys[keys.length - 1], otherwise, cases);
        } else {
            code.lookupswitch(otherwise, cases);
        }
    }

    private void call(int index, Op.ApiCall on) {
        if (on.method().accesses()) {
            LinkedProcedure.Point point = program.access(index);
            if (turns == null) {
                code.labelBinding(resumed[point.number()]);
            }
            access(on.method(), point);
        } else {
            local(on.method(), on.line());
        }
    }

    /** Called with the operands of the point on the stack, and no more. */
    @Override
    void leave(LinkedProcedure.Point point) {
        int slot = keepLocals(point.kept(), point.slots(), point.types());
        for (int i = point.operands().size() - 1; i >= 0; i--) {
            Type type = point.operands().get(i);
            if (type == Type.CALL) {
                code.pop();
            } else {
                keep(type, --slot);
            }
        }
        code.aload(FRAME_SLOT)
                .iload(FUEL_SLOT)
                .loadConstant(point.number())
                .invokestatic(FRAME, point.compares() ? "leaveHead" : "leave", LEAVE)
                .ireturn();
    }

    /**
     * Writes code that keeps variables in the frame's slots that end before {@code end}; returns the first slot that is
     * used.
     */
    int keepLocals(int end, List<Integer> slots, List<Type> types) {
        int slot = end;
        for (int i = types.size() - 1; i >= 0; i--) {
            Type type = types.get(i);
            if (type != Type.CALL) {
                code.loadLocal(type.kind, FIRST_SLOT + slots.get(i));
                keep(type, --slot);
            }
        }
        return slot;
    }

    void fetchLocals(int begin, List<Integer> slots, List<Type> types) {
        int slot = begin;
        for (int i = 0; i < types.size(); i++) {
            slot = fetch(types.get(i), slot);
            code.storeLocal(types.get(i).kind, FIRST_SLOT + slots.get(i));
        }
    }

    private void keep(Type type, int slot) {
        ClassDesc kept = type.kind.upperBound();
        code.aload(FRAME_SLOT)
                .loadConstant(slot)
                .invokestatic(
                        SLOTS, "keep", MethodTypeDesc.of(ConstantDescs.CD_void, kept, FRAME, ConstantDescs.CD_int));
    }

    private void restore(LinkedProcedure.Point point) {
        int slot = 0;
        for (Type type : point.operands()) {
            slot = fetch(type, slot);
        }
        fetchLocals(slot, point.slots(), point.types());
        if (point.access() != null) {
            pushOperands(point.access());
        }
        code.goto_(resumed[point.number()]);
    }

    private int fetch(Type type, int slot) {
        code.aload(FRAME_SLOT);
        if (type == Type.CALL) {
            return slot;
        }
        String name = "kept"
                + switch (type) {
                    case INT -> "Int";
                    case LONG -> "Long";
                    case FLOAT -> "Float";
                    default -> "Double";
                };
        code.loadConstant(slot)
                .invokestatic(SLOTS, name, MethodTypeDesc.of(type.kind.upperBound(), FRAME, ConstantDescs.CD_int));
        return slot + 1;
    }

    /** Pushes a field of the frame. */
    @Override
    void field(String name, TypeKind kind) {
        code.aload(FRAME_SLOT).getfield(FRAME, name, kind.upperBound());
    }

    @Override
    boolean checked() {
        return turns != null;
    }

    @Override
    void checkedPlace() {
        Objects.requireNonNull(turns).place(at);
    }

    /** The label of an instruction. In counted turns: its own label there, or a way out of the turns. */
    private Label label(int index) {
        PrecheckedLoopWeaver now = turns;
        return now == null ? labels[index] : now.label(index);
    }

    /** Writes the method that runs counted turns of a loop. */
    void weaveTurns(PrecheckedLoop loop) {
        new PrecheckedLoopWeaver(this, program, loop, code).weaveTurns();
    }

    /** Writes instructions once more, as part of counted turns. */
    void weave(PrecheckedLoopWeaver again, int first, int last) {
        turns = again;
        for (int i = first; i <= last; i++) {
            op(i);
        }
        turns = null;
    }

    /** The label of an instruction that begins a block. */
    Label start(int index) {
        return labels[index];
    }
}
